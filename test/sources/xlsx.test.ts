import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { readTable, sourceTexts, streamTable } from "../../src/sources/source.js";
import { xlsxTexts } from "../../src/sources/xlsx.js";
import { contents, temporaryFolder, unpacked } from "./files.js";
import { sheetRows, workbookParts, zipOf } from "./workbook.js";

const { file } = temporaryFolder();

/** Of openpyxl 3.0.9: texts, numbers, a day, a moment, booleans, empty cells. */
const OPENPYXL =
  "H4sIAAAAAAACA31YB1RT29JOqNJ7C00hgEqkI71LrwpCIBJDJ0iJFAm9iIB0QlOqgCBICSAdREJTpHeliRRpIk0iSPvxuv7nu7z73jlr77P2WfubNTN7ZvbMGOkSEjECAIALADo+d0tSFX3rkLNV5dmgPRu2bjZG7m4oD2ErFEoI7eKsH6dAQSBKe+P0/f3XdSo4VWvlwVsVVTR+7MIJtmpVqoEtMrh4Vy43Vo1P5A5X54upr4WbxC/wYGgATCxRtQaWL1w50hwLbHwAcsuJ/TEDWtqIklGuIrKCp1/0T6jjNHLcqbnK0AZf1ipRdgLtBZeIqU7dXWaLRyU3+fdSuce35JBwo7+xa23CWrR5thIkAADo/p1dGzd3u1/89mEGDNpFKCPuEi/NNiLfhuWVs9AKJCQ8IZpn5ptlLjvI7yiamUpKLWMIJZ1jPUwbyOGru3phibflBrcIBucpPjnLl9sWzhkZCtBaCzYtFBO44/rNvxqzI/7tkpZXsl9Y48txROLzVLAVAbPVparyMZ2iSIy//EKNxdZncby4nmAr1zVZnVZd6tIM/vCRD3UoYj2RNscRb+CeamZJkPUydYWHu569NlW7EXVfZo8cCh0U6Js1cS1GF5zVdiTIpvIimP3B06PxaSVnbnMzs73GueY57yknPtMUR1cl/gnuQDOr9ZqPT4Oc/em+Wux7scyw/F07T+9k8tKSAACZAgAAw9lftLOwp6Odi93vWfSXfjYsYB6T0oyBm9hBtAPehaLrekhtNYMH8sFU9dOwDQPuR3TQWGcf28SwoDea12l7Uqk2MPqNGfJEkNXDfnXN5RVpn91vQtYr4ZHJO2jER+Gp8aY64dk5MzEwnYoI2wvsVit5gR68xgIJaJcO6Gagb58Ojb6gi2bsGb8zBwMJ846vVU/NmIYhnXNZNW0RAXCIo/KgyU0Lt7sXq5e4xfeZekxi7fKBDGYq/A2R1TsHzp1Hk7OKdgOrspxiIa4i7NCLQf1uLxYNLCI/m7R1tDo5KJneezs0rBUc2h2QTNyojc8fYbogRiUnmwXtf+CP79jIiXk/6SnhAppb2EZL1/YMR6M4iOZuNmW3ZX13fvNchaw6Hzlo+wE/WZ5Y+DLW2HDkR8Cn9QzHTPJYmOHIPe+ZkbjHXWWDaKqWbcOI9vLHXSWDnutIfoHj8nvPV5kdVTUW1n3pmWqWlEcuAqCoB+O9w4Sp8Cs/vZJBHzmbZlTubEG/yTymO+nqJBpHDrOlSmi4ZyUQUwOkOob0jPyxKrVRc22Y4TsJ4wNXaoxAF9Lfhexphl7qnMYe76U1dT8X980KkO2/lxyELAG+2GjKGEg68lhZzHmRNKGv2o9qhpBtH/LCrCIEXOUY3GU5HFT9B/D4xAI+sYHNA/J1A3kHbtPUCsuBgcXsGHfephk8NABvqOnKO1Hc+opnIlkDrJ7z7lrjIp10jTaVGIPShazwJ05GHATPyURTc8P3q7tK6eYYAupaLrz7FBv5o8QtXcEsF6o9GbZPqwGaz/T44jHkfEhaoDGEv908nZ8GZQKmsX6SeCkJ6RxHp7Rul2XKczLQ9yVTkKiEp4H56YtlAvW1GE4ECyZPMkeUt5KFwT91EuORr3hfePL3rYiDcBpYdq8Ix2F53xPig0xJco5Edk4CB/ZXGpfCkE1bXFhwXHpZG52gqqI123WQew1zSO394jCEBX3XENpguJruyLxUMkkR8e5rX6JX/3giNR0GLnW2tz86ge4NV7i0TvpG3n0o0XE2vF0btxLaY39cHxg+Ju4MifuhOcqis0jD/0JpVUyCND/dnOx1mKlTzssICcUiLjFy4u0GLsUlXzS5VGpXs1F5qB/wdGhSqq1kP7RVJkgoYKBgs+G7Qu5wnRRvgANuJBo2q+EK6zgsF52ckBC6bGPm3vfurQk26coHmZzWr8eOitnbGz8/gsOw6ebXeJkTdENeqYDrj6Lfb13tIFuxhfGR9ZiM2ElF0WersruuGu/ppEwsYRsu18vDFlexuZ6KkIED+bvL1X0U4mp17rprtcktNfzSOt8re1EGXD2Ucg7yGM5a72eckod4yweLvAUixmlq9SDVFkKXxqxpWensJ4kN5CO3EtzaD1Y70aB5mY9EDQFPzFyWPwwNHS7jblbkb8qncr6N3Mm79C03/MlAu1qEj9/dJw4pXUYSjC7OpWCIRh2ifmIbwjhni7j2jPQh9ibBzq3bCFFYF6FgQp6/Xoz6Cmo57c7dhSHMwlShXY0r9oo3mwvPLZk25BMGh5L3s3aVuNucA7dhOxUtTgrVTAYDJ+Zl73Io6QyYKei1bJJZCnXydtmMW5YFtTtuS79RF6+lT2NtXvjy9r6BcT39g1oaArGGJpliXztRh8KdT9coySCwSHP6eX3LjbHljMxyX54HP9O8cYidY1S3Js2S3PLd75Zq5YH4mYWfrklyWnqZPp10QE91At4UDhJmFrFFo2+YBBIGYF9y940tglDbQo7gJz8pXu9QNlxh6i9TlAlShzwMN4AP89EzRlVQEl9icV/Y3Exy8o6Z+AkJcQkzEbMdY3mv9hinIO6u9sGEb7d8kp/i0dS8SV8TqIUfodvu65p1TeB0Cj6qUM2ioLGb/3SO61WER4ZvfZt66Sl0nOtA7JMMakp2lhD+hQGi9jwQFxAVFUxXYt3SiDU84MuUq/bbDrmYcTQ+9Rw/M0fpP1piUWArSKekS+rPjSGxiYF9l7gbz2hdVlhZ1jUpSukTDN2lzLWX/hShng4SH4sulYkld1MZU15SmhqlcsRTSXAkEsNFn9Zez180IJefPtmkqmjriPu8Ef0G+PcLZIi20BIHBAAIiQAA1t8XiLeb+z0PRzs7Tw/hvz5/3SJexpbxGSK0R4LvUnbGn2wNNcEBxdomNTQpeXKWgnt9rQSmznob+ivHh5Pg3MUb2c1N2ZwDpePa2O84CcDKcUqe5BUkbZOAjv5QsK19sazjhn5Bta2jsaXxCBKxNAgmpvI/ZUiJqQPrhk/CHR7L5s1d+1rjEHdL7LgWmPszufRdzVbvOolliL32Wyc00H8DP2nvaXulIWwcNeYLepnsb66wwRPBDVCS+W5P79evXT6K4/vUk7xvQHvh8qCoiF8mgkJVmkdwYeBRUoxhYxfS3+5UFl0Hd7dHlHQIw62TMJrzKUaV+a0OY0EPo3PQjPU276pulMyO9DukMgqh3GAcbjP+cKMp2Toaq3ExMjJ1wdal6vo5qR9bD+zFtzYU0N2z9nNNfiivenXjdRsJhhj7ULmNN2PzarRd6zJqy1x1Qi8gd/i+S6S4CfdV8POCybnb95lr5IwX24+DwtljPxeJNku1Pmr1aim6/xpRBUsK7e0T5yAirgtVPOy57I/GXs0s2lm+rW52O8OxbV8U2rW55Vml+s3vCNH4pWybyKS2765iR8fIcoqcQFGjlWuDqon7BfZDXRW54NfY5LZ789cDj358VPr7sZMO1laHn2VUAhQAANXvY/fw9HG28/h11jOmutFTIrQngho/ypLqRbfpl43Ung2mPppRw+qA3xIo3DGHY05+OkGwDJtOzBaTupyhGrurGXXzznLeiUeVn6f5HPi8zDBdDXhF/SabdqYNxSep9+JHu66uHY1nD5fXZFZRa+kUlnTyGDIxpX+tbTTzW2pcdPTd0KlKN9GGKr7CQHbjwWRfrrajtYVOGozX4kQxGgPYyl1tD+xowARQmDNgs7ZmaII2FXy52eolekfPTvvq1U4cOWLMhMyHbI3pcpwGKEM6R460asJTibCZUu5yj6MmmcvXOTk0K/MFZS2ZEuDlB1Opsm/LZg/7WtmS3Z7ZJucIlcXP2a7aNVgkCVpBm5MeVsZMmWer1EzpwOUMK+ZHW9f0MghWMm/CEaHZMYVqlMIxN7fs4++813zyeHOvF9/QguwmAOUJDJFKROH0PgQfw+7h8LEfv8b38pehr38z3nw11H6i6cYRVNHMvGwVVC5wKr6+MH2sdrj+xkWJU/DBSKq5Mb8LQbslxg2luzh2w33lkadqfJOGSNdexix6N47rCNva26I0gNb3W83mrwCbHQg65Jl1eq4Bh0GGlkvCIg97/BvNZ9MGY3JkSrrKFDhJRLdDf8gqKqNjv0YIxCEygzvpWkWUoESsAhUiSqfGiuwSOcFWlS5570iWnI0MEJ0JTvuIwPnMNqVtvWienh2OEsfb6rxFFY1LMv4L4xUfgkMOgIZvzO41T+2HNSuRQg0/ZdBCjP3pK/W2LQjpsewiUTyzLr00IhVCiFeEJwuBiML5TMjDcutKKylWzSgCNQTzgnj6spaX+37H4cMZDEQwSpoAKh8Kaaetj5UOVQeIIrRSqTZxZpv535cUUuCnoM3Ac3EqLaqJo/VsxXBmtGc2C7jrbufsISz0a87CNLieFQDKQZ2D2SKkg5cixe22mYkOgKZ5NB/oiaPUs95gJwvuJ1Cw+SjI009zIZU3pJ/XRhezHtPeQlqM1QO1avnikf2JquWjEC7JiGHlG1M2ahUWEEVlITb7ute2zC88nptF3pnIKlCYEjZUcQvGyurdV0Vq6YpTb/UNB4n92KWUVF/S4U2BgdAjSycP5rSHcnmgzOnq3SN5nAVBnG/xCSOrWBueal/YysF9RxPyuGkbvpj71tUnkqHdNF8DAX8XVMKoK1zkLCDznAlK8ycgW7u53fvlm7E3h3TalWmPUlDciFtDoQWr0erXIpkFA96AM+xXZ1w+TFVPYr2TaCH78yOz/ZD23ukdPX9IZFx3mvelL4V0SBYkqIekOVZqVNWokB9v6rmkBoKRwDpJlJt13V45Z/tG40pTk8ZTR9YfEemokJPjW7k+cwQdBOobsFYqR+xkZXzeaAVzEfo2K6dk9IIrc3cpROGXI72aMN0N070a1jQQ6EmI9+tuQ1gHkA7mD5XEZPgUhkq6J3+2Hqxb2ybylXfNGmSQBcJhIQ6F5Z2oFTsJdV8mmxWrdJvHFCeGsSYT0Lb09/1qCZWaJBPslJW46+lgKE0DGwTv4+n8UjSjqLikEB2is1UI2tDPvlokqrxXKHbz/saLaffheJVl/LdA/DMFz36Fq3gueLepcceqn+m5sAfmysgrO1vtnykY9Fu5vw3p31X8l1HVJCpQPxShfISlXwJIGhWrEetZQgWFaIl3eenpO8vJ64QfARNkPa2qsq8FbXYb5Dgyers+q90Fa9wjeW/b83UT8BxWHSXUvyBi6MRSOm8eTtI8/NqJFnO5UeWDuG32t6d5mfInap5eM0h/6eMq6S0akWbLlWJ12ys6TKBFvTbH2uu4W/M9eql5RWJsUVdTURYX57svuiBNAyoMDaqXfVikfqiX9y2QlX+iRKE9T865il2CD4btTMABwt81IUzNzdXTztXzrokPys7D8peIZUn6ZzUz7Zl0djA+IQj0WSE7gsISBbQxBJWcJDlYDE+JG0zqPKNneqRfip5tHshOK52Np6tYydr7kMx505+R4DapgTUnD7q8+pKM9lF6LY9OTRKM9kfP0kMjHAP65WW/5PUx8Wp3t2L0qg+7/pb+01Zrc/nYtl4nHbZ8SR36iU7cOnfy2o2iBo9BhAOPENQoqiTszgEnas1PTllHQ60y8TG8wCZlpUxZ1qLVd3L+PZvaFIhYtuj1QirIhqC4kvCiw/qQp6g+f7ZIzEDTxyOcPfm79/rkdDKVREFvs3i7Z27b8mrZFmLRl6r2vh6qGMAetiT2LRxTIqUWQ6yhXwb2/bpYTtn7t+navr1RqmweNwAFfYn+rAQPOtMkkICR8L83S/7/CQYC/qF1ch59vnfxB439p07Gefj54v4PvA/4j6X+eQLnk7t/EQihvvDfU73/0MG5XOEPG8Tk5zKH89DzUfsPtJbybzH8PPB8FPwDzKH6j5h4Hnzey/+Aj6j/l8+fp3Pekf7Q+Uzzj25lpEtM8msD2dmreMa54F+H/n+kLJ7SfxMAAA==";

/** Styles 0 to 4: general, a day, a day and a time, a time alone, "m" in quotes only. */
const STYLES =
  '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="0.0&quot;m&quot;"/></numFmts>' +
  '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="21"/><xf numFmtId="165"/></cellXfs>';
const STRINGS =
  "<si><t>name</t></si><si><t>F &amp; <![CDATA[G]]></t></si><si><r><t>two </t></r><r><t>runs</t></r><rPh><t>no</t></rPh></si><si><t>a_x0009_b</t></si>";

describe("an Excel workbook", () => {
  test("has shared and inline strings, numbers, booleans, dates, errors and empty cells", async () => {
    const sheet =
      '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>age</t></is></c><c r="C1" t="inlineStr"><is><t>born</t></is></c><c r="D1" t="str"><v>seen</v></c><c r="E1" t="str"><v>member</v></c><c r="G1" t="str"><v>length</v></c></row>' +
      '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="B2"><v>30.50</v></c><c r="C2" s="1"><v>43835</v></c><c r="D2" s="2"><v>43835.4375</v></c><c r="E2" t="b"><v>1</v></c><c r="G2" s="4"><f>1+1</f><v>1.5</v></c></row>' +
      '<row r="3"/>' +
      '<row r="4"><c r="A4" t="s"><v>2</v></c><c r="C4" s="1"><v>1</v></c><c r="E4" t="b"><v>0</v></c><c r="G4" t="e"><v>#N/A</v></c></row>' +
      '<row r="5"><c r="A5" t="s"><v>3</v></c><c r="B5" t="str"><v>NA</v></c><c r="C5" s="1"><v>61</v></c></row>';
    const parts = workbookParts({ people: sheet }, { strings: STRINGS, styles: STYLES });
    for (const stored of [true, false]) {
      const table = await readTable(file("people.xlsx", zipOf(parts, { stored })));
      expect(contents(table)).toEqual({
        name: ["F & G", "two runs", "a\tb"],
        age: [30.5, null, null],
        // 2020-01-05, 1900-01-01 and 1900-03-01: Excel has a day too many in between.
        born: [18266, -25567, -25508],
        seen: [18266.4375, null, null],
        member: ["true", "false", null],
        length: [1.5, null, null],
      });
      expect(table.columns[2]).toMatchObject({ unit: "days since 1970-01-01" });
    }
  });

  test("counts days from 1904 where it says so", async () => {
    const rows = '<row><c t="str"><v>day</v></c></row><row><c s="1"><v>0</v></c></row>';
    const parts = workbookParts({ a: rows }, { styles: STYLES, properties: '<workbookPr date1904="1"/>' });
    expect(contents(await readTable(file("mac.xlsx", zipOf(parts))))).toEqual({ day: [-24107] });
  });

  test("has several sheets, of which the first is read unless one is named", async () => {
    const [first, second] = [sheetRows([["a"], [1]]), sheetRows([["b"], ["x"]])];
    const path = file("two.xlsx", zipOf(workbookParts({ one: first, "second &amp; last": second })));
    expect(contents(await readTable(path))).toEqual({ a: [1] });
    expect(contents(await readTable(path, { sheet: "second & last" }))).toEqual({ b: ["x"] });
    await expect(readTable(path, { sheet: "onw" })).rejects.toThrow(
      new InputError("no-sheet", xlsxTexts.noSheet(path, "onw", "one", ["one", "second & last"])),
    );
    const csv = file("one.csv", "a\n1\n");
    await expect(readTable(csv, { sheet: "one" })).rejects.toThrow(sourceTexts.noSheets(csv));
  });

  test("keeps texts that look like numbers, and long numbers as what they are", async () => {
    const rows = sheetRows([
      ["id", "share"],
      ["007", 0.1],
      ["8", 1e-7],
    ]);
    const path = file("ids.xlsx", zipOf(workbookParts({ a: rows })));
    expect(contents(await readTable(path))).toEqual({ id: ["007", "8"], share: [0.1, 1e-7] });
    expect(contents(await readTable(path, { header: false }))).toEqual({
      column1: ["id", "007", "8"],
      column2: ["share", "0.1", "1e-7"],
    });
    expect(contents(await readTable(path, { query: "SELECT sum(share) AS s FROM data" }))).toEqual({
      s: [0.1 + 1e-7],
    });
    const parts: number[] = [];
    for await (const part of streamTable(path, { chunkRows: 1 })) parts.push(part.rows);
    expect(parts).toEqual([1, 1]);
  });

  test("that openpyxl wrote", async () => {
    const table = await readTable(file("openpyxl.xlsx", unpacked(OPENPYXL)));
    expect(contents(table)).toEqual({
      name: ["Zoë", 'a<b>&"c"', null],
      age: [31, null, -2.5],
      day: [18266, 18321.4375, null],
      ok: ["true", "false", null],
    });
  });
});

describe("a workbook that is none is refused in one sentence", () => {
  const good = workbookParts({ a: sheetRows([["name"], ["Jane Doe"], ["Joe"]]) });
  const sheet = "xl/worksheets/sheet1.xml";
  const refused = async (bytes: Uint8Array, text: (file: string) => string) => {
    const path = file("bad.xlsx", bytes);
    await expect(readTable(path)).rejects.toThrow(InputError);
    await expect(readTable(path)).rejects.toThrow(text(path));
    await expect(readTable(path)).rejects.not.toThrow(/Jane/);
  };

  test.each<[string, Readonly<Record<string, string>>, (file: string) => string]>([
    ["another zip archive", { "a.txt": "x" }, xlsxTexts.noWorkbook],
    ["a binary workbook", { "xl/workbook.bin": "x" }, xlsxTexts.binary],
    ["no sheet", { ...good, [sheet]: "" }, xlsxTexts.empty],
    ["tags that do not match", { ...good, [sheet]: "<a><b></a></b>" }, xlsxTexts.broken],
    ["a tag that does not end", { ...good, [sheet]: '<row r="1' }, xlsxTexts.broken],
    [
      "an entity of its own",
      { ...good, [sheet]: "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>" },
      xlsxTexts.broken,
    ],
    ["an entity that is none", { ...good, [sheet]: "<a>&b;</a>" }, xlsxTexts.broken],
    [
      "an outer entity",
      { ...good, [sheet]: '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>' },
      xlsxTexts.broken,
    ],
    [
      "a string that is not there",
      { ...good, [sheet]: '<d><row><c t="s"><v>7</v></c></row></d>' },
      xlsxTexts.broken,
    ],
    ["a number that is none", { ...good, [sheet]: "<d><row><c><v>Jane</v></c></row></d>" }, xlsxTexts.broken],
    [
      "a cell beyond all columns",
      { ...good, [sheet]: '<d><row><c r="ZZZ1"><v>1</v></c></row></d>' },
      xlsxTexts.broken,
    ],
  ])("%s", async (_, parts, text) => refused(zipOf(parts), text));

  test("cells so far apart that the table would be thousands of times the file", async () => {
    const cells = Array.from({ length: 16_000 }, (_, at) => {
      const letters = [at / 676 - 1, (at / 26 - 1) % 26, at % 26].map((n) => Math.floor(n));
      const name = letters
        .filter((n, place) => place === 2 || n >= 0)
        .map((n) => String.fromCharCode(65 + n));
      return `<row><c r="${name.join("")}${at + 1}"><v>1</v></c></row>`;
    });
    await refused(zipOf({ ...good, [sheet]: `<d>${cells.join("")}</d>` }), xlsxTexts.scattered);
  });

  test("one that unpacks to far more than its size, whatever it says about it", async () => {
    const zeros = Buffer.alloc(100 * 1024 * 1024, 32);
    const bomb = zipOf({ ...good, [sheet]: zeros });
    await refused(bomb, xlsxTexts.tooLarge);
    await refused(zipOf({ ...good, [sheet]: zeros.subarray(0, 1e6) }, { size: 10 }), xlsxTexts.broken);
  });

  test("damage to its bytes, by its checksum", async () => {
    const bytes = zipOf(good, { stored: true });
    bytes[bytes.indexOf("Jane")] = 0x58;
    await refused(bytes, xlsxTexts.broken);
  });
});
