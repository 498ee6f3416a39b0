/**
 * A little notation over the encoder, so that a kernel of many branches can be written as statements.
 *
 * A value is a constant, a local or something that pushes it; a statement is written by calling it.
 */
import {
  F32,
  F64,
  type FunctionWriter,
  I32,
  I64,
  type PlainInstruction,
  type SimdInstruction,
  V128,
  type ValueType,
} from "./encoder.js";

export interface Local {
  readonly local: number;
}

/** A whole number, a local, or instructions that leave one value on the stack. */
export type Value = number | Local | (() => void);

export class Assembly {
  readonly writer: FunctionWriter;

  constructor(writer: FunctionWriter) {
    this.writer = writer;
  }

  /** The function's parameters, as locals. */
  parameters(): Local[] {
    return this.writer.params.map((_, local) => ({ local }));
  }

  #local(type: ValueType): Local {
    return { local: this.writer.local(type) };
  }

  i32(): Local {
    return this.#local(I32);
  }

  i64(): Local {
    return this.#local(I64);
  }

  f32(): Local {
    return this.#local(F32);
  }

  f64(): Local {
    return this.#local(F64);
  }

  v128(): Local {
    return this.#local(V128);
  }

  push(value: Value): void {
    if (typeof value === "number") this.writer.i32(value);
    else if (typeof value === "function") value();
    else this.writer.get(value.local);
  }

  /** The instruction on these values. */
  op(instruction: PlainInstruction, ...values: readonly Value[]): () => void {
    return () => {
      for (const value of values) this.push(value);
      this.writer.op(instruction);
    };
  }

  /** The vector instruction on these values. */
  simd(instruction: SimdInstruction, ...values: readonly Value[]): () => void {
    return () => {
      for (const value of values) this.push(value);
      this.writer.simd(instruction);
    };
  }

  /** The sum of all. */
  add(first: Value, ...others: readonly Value[]): Value {
    return others.reduce<Value>((sum, each) => this.op("i32.add", sum, each), first);
  }

  sub(a: Value, b: Value): Value {
    return this.op("i32.sub", a, b);
  }

  mul(a: Value, b: Value): Value {
    return this.op("i32.mul", a, b);
  }

  shl(a: Value, bits: Value): Value {
    return this.op("i32.shl", a, bits);
  }

  shr(a: Value, bits: Value): Value {
    return this.op("i32.shr_u", a, bits);
  }

  and(a: Value, b: Value): Value {
    return this.op("i32.and", a, b);
  }

  less(a: Value, b: Value): Value {
    return this.op("i32.lt_s", a, b);
  }

  below(a: Value, b: Value): Value {
    return this.op("i32.lt_u", a, b);
  }

  real(value: number): Value {
    return () => this.writer.f64(value);
  }

  toReal(value: Value): Value {
    return this.op("f64.convert_i32_u", value);
  }

  load(address: Value, offset = 0): Value {
    return () => {
      this.push(address);
      this.writer.memory("i32.load", offset);
    };
  }

  loadReal(address: Value, offset = 0): Value {
    return () => {
      this.push(address);
      this.writer.memory("f64.load", offset);
    };
  }

  loadFloat(address: Value, offset = 0): Value {
    return () => {
      this.push(address);
      this.writer.memory("f32.load", offset);
    };
  }

  loadWide(address: Value, offset = 0): Value {
    return () => {
      this.push(address);
      this.writer.memory("i64.load", offset);
    };
  }

  loadVector(address: Value, offset = 0): Value {
    return () => {
      this.push(address);
      this.writer.memory("v128.load", offset);
    };
  }

  store(address: Value, value: Value, offset = 0): void {
    this.push(address);
    this.push(value);
    this.writer.memory("i32.store", offset);
  }

  storeReal(address: Value, value: Value, offset = 0): void {
    this.push(address);
    this.push(value);
    this.writer.memory("f64.store", offset);
  }

  storeFloat(address: Value, value: Value): void {
    this.push(address);
    this.push(value);
    this.writer.memory("f32.store");
  }

  storeWide(address: Value, value: Value): void {
    this.push(address);
    this.push(value);
    this.writer.memory("i64.store");
  }

  storeVector(address: Value, value: Value, offset = 0): void {
    this.push(address);
    this.push(value);
    this.writer.memory("v128.store", offset);
  }

  set(local: Local, value: Value): void {
    this.push(value);
    this.writer.set(local.local);
  }

  /** Sets a local and is its new value. */
  setting(local: Local, value: Value): Value {
    return () => {
      this.push(value);
      this.writer.tee(local.local);
    };
  }

  /** A new local with the value. */
  keep(value: Value): Local {
    const local = this.i32();
    this.set(local, value);
    return local;
  }

  /** The first value where the condition is not zero, and else the second; both are computed. */
  choose(first: Value, second: Value, condition: Value): Value {
    return this.op("select", first, second, condition);
  }

  /** local += value. */
  increase(local: Local, value: Value): void {
    this.set(local, this.add(local, value));
  }

  call(index: number, ...values: readonly Value[]): () => void {
    return () => {
      for (const value of values) this.push(value);
      this.writer.call(index);
    };
  }

  when(condition: Value, then: () => void, otherwise?: () => void): void {
    this.push(condition);
    this.writer.when(then, otherwise);
  }

  /** Looks at the condition before each turn. */
  while(condition: Value, body: () => void): void {
    this.writer.repeat(() => this.push(condition), body);
  }

  /** For counter = from; counter < to (unsigned); counter += step. */
  for(counter: Local, from: Value, to: Value, step: number, body: () => void): void {
    this.writer.loop(
      counter.local,
      () => this.push(from),
      () => this.push(to),
      step,
      body,
    );
  }
}
