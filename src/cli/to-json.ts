/** A result as JSON text, with typed arrays as plain lists; what is not finite becomes null. */
export const toJson = (value: unknown): string => JSON.stringify(value, plain, 2);

const plain = (_key: string, value: unknown): unknown =>
  ArrayBuffer.isView(value) && !(value instanceof DataView) ? Array.from(value as Float64Array) : value;
