/** Several experiments side by side in a workgroup: a number of each of them is one vector, or two. */

export type TileSize = 1 | 2 | 4 | 8;

const TYPES: Readonly<Record<number, string>> = { 1: "f32", 2: "vec2f", 4: "vec4f" };

export class Tile {
  readonly size: TileSize;
  /** Experiments of a vector, and vectors of a tile. */
  readonly width: number;
  readonly parts: number;
  readonly type: string;

  constructor(size: TileSize) {
    this.size = size;
    this.width = Math.min(4, size);
    this.parts = size / this.width;
    this.type = TYPES[this.width];
  }

  /** Room in shared memory for `count` numbers of every experiment. */
  shared(name: string, count: number): string {
    return `var<workgroup> ${name}: array<${this.type}, ${count * this.parts}>;`;
  }

  at(name: string, index: string, part: number): string {
    return this.parts === 1 ? `${name}[${index}]` : `${name}[(${index}) * ${this.parts}u + ${part}u]`;
  }

  /** The number of experiment b out of a value for each part. */
  of(parts: readonly string[], b: number): string {
    const part = parts[Math.floor(b / this.width)];
    return this.width === 1 ? part : `${part}.${"xyzw"[b % this.width]}`;
  }

  /** The vector of a part from the numbers of its experiments. */
  from(numbers: (b: number) => string, part: number): string {
    const each = Array.from({ length: this.width }, (_, i) => numbers(part * this.width + i));
    return this.width === 1 ? each[0] : `${this.type}(${each.join(", ")})`;
  }

  same(number: string): string {
    return this.width === 1 ? number : `${this.type}(${number})`;
  }

  get each(): readonly number[] {
    return Array.from({ length: this.size }, (_, b) => b);
  }

  get eachPart(): readonly number[] {
    return Array.from({ length: this.parts }, (_, part) => part);
  }
}
