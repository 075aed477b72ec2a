// Runs a function of a module without bindings on some input: in Node and in the Worker runtime alike.

/** The bytes that come of `input`, a text or bytes; `what` is the function's name. */
export function run(instance, what, input) {
  const { memory, reserve, output } = instance.exports;
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  const at = reserve(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = instance.exports[what]();
  return new Uint8Array(memory.buffer, output(), length).slice();
}
