/** The datasets of the paper: what they are, where they come from, and what their files must be. */
import { InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";

export interface DatasetFile {
  readonly name: string;
  readonly bytes: number;
  /** Of the contents, unpacked. */
  readonly sha256: string;
  /** Whether the dataset is complete without it. */
  readonly optional?: boolean | undefined;
}

export interface Dataset {
  readonly name: DatasetName;
  readonly title: string;
  /** Below the data folder. */
  readonly folder: string;
  readonly page: string;
  /** A zip archive with the files in it, at the original site; none where the terms must be agreed to there. */
  readonly archive?: string | undefined;
  readonly licence: string;
  readonly citation: string;
  readonly files: readonly DatasetFile[];
  /** What has to be done by hand where there is no archive. */
  readonly byHand?: string | undefined;
}

export type DatasetName = "students" | "census" | "adult" | "german" | "bank" | "celeba";

export const datasetTexts = {
  unknown: (given: string, suggestion: string | undefined, names: readonly string[]) =>
    suggestion === undefined
      ? `there is no dataset "${given}": the datasets are ${names.join(", ")}.`
      : `there is no dataset "${given}"; did you mean ${suggestion}?`,
};

const UCI = "https://archive.ics.uci.edu";

export const DATASETS: readonly Dataset[] = [
  {
    name: "students",
    title: "Predict Students' Dropout and Academic Success (UCI 697)",
    folder: "students-dropout",
    page: `${UCI}/dataset/697/predict+students+dropout+and+academic+success`,
    archive: `${UCI}/static/public/697/predict+students+dropout+and+academic+success.zip`,
    licence: "CC BY 4.0",
    citation:
      "Realinho, Vieira Martins, Machado and Baptista (2021), UCI Machine Learning Repository, doi:10.24432/C5MC89",
    files: [
      {
        name: "data.csv",
        bytes: 528805,
        sha256: "19737f02127e85ef29af536e46888a7721b6c530c3e1c6aedfbb09109c030a71",
      },
    ],
  },
  {
    name: "census",
    title: "Census-Income (KDD) (UCI 117)",
    folder: "census-income-kdd",
    page: `${UCI}/dataset/117/census+income+kdd`,
    archive: `${UCI}/static/public/117/census+income+kdd.zip`,
    licence: "CC BY 4.0",
    citation: "Census-Income (KDD) (2000), UCI Machine Learning Repository, doi:10.24432/C5N30T",
    files: [
      {
        name: "census-income.data",
        bytes: 103874469,
        sha256: "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
      },
      {
        name: "census-income.test",
        bytes: 51918813,
        sha256: "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
        optional: true,
      },
    ],
  },
  {
    name: "adult",
    title: "Adult (UCI 2)",
    folder: "adult",
    page: `${UCI}/dataset/2/adult`,
    archive: `${UCI}/static/public/2/adult.zip`,
    licence: "CC BY 4.0",
    citation: "Becker and Kohavi (1996), UCI Machine Learning Repository, doi:10.24432/C5XW20",
    files: [
      {
        name: "adult.data",
        bytes: 3974305,
        sha256: "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
      },
      {
        name: "adult.test",
        bytes: 2003153,
        sha256: "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
      },
    ],
  },
  {
    name: "german",
    title: "Statlog (German Credit Data) (UCI 144)",
    folder: "german-credit",
    page: `${UCI}/dataset/144/statlog+german+credit+data`,
    archive: `${UCI}/static/public/144/statlog+german+credit+data.zip`,
    licence: "CC BY 4.0",
    citation: "Hofmann (1994), UCI Machine Learning Repository, doi:10.24432/C5NC77",
    files: [
      {
        name: "german.data",
        bytes: 79793,
        sha256: "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
      },
    ],
  },
  {
    name: "bank",
    title: "Bank Marketing (UCI 222)",
    folder: "bank-marketing",
    page: `${UCI}/dataset/222/bank+marketing`,
    licence: "CC BY 4.0",
    citation: "Moro, Rita and Cortez (2014), UCI Machine Learning Repository, doi:10.24432/C5K306",
    files: [
      {
        name: "bank-full.csv",
        bytes: 4610348,
        sha256: "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d",
      },
    ],
    // Its archive holds another archive.
    byHand: "download it on its page, unpack the bank.zip that is in it, and name the folder with --from",
  },
  {
    name: "celeba",
    title: "CelebA: attributes, and features of the first 10,000 images",
    folder: "celeba",
    page: "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html",
    licence:
      "non-commercial research only; the agreement forbids copying, publishing or distributing any portion of the images",
    citation: "Liu, Luo, Wang and Tang (2015), Deep Learning Face Attributes in the Wild, ICCV",
    files: [
      {
        name: "list_attr_celeba.txt",
        bytes: 26721026,
        sha256: "f0e5da289d5ccf75ffe8811132694922b60f2af59256ed362afa03fefba324d0",
      },
      {
        name: "resnet18-layer3-gap-000001-010000.npy",
        bytes: 10240128,
        sha256: "b08c5cb8537fecfbf08bc085453f6bf448b201f9e428606c81d68b49c5251bba",
      },
      {
        name: "list_eval_partition.txt",
        bytes: 2836386,
        sha256: "fc955bcb3ef8fbdf7d5640d9a8693a8431b5f2ee291a5c1449a1549e7e073fe7",
        optional: true,
      },
    ],
    byHand:
      "agree to the terms on its page, download there, and name the folder with --from; features of your own copy of the images are made with fairbed data embed",
  },
];

export const datasetNamed = (name: string): Dataset => {
  const found = DATASETS.find((each) => each.name === name);
  if (found !== undefined) return found;
  const names = DATASETS.map((each) => each.name);
  throw new InputError("unknown-dataset", datasetTexts.unknown(name, nearestName(name, names), names));
};
