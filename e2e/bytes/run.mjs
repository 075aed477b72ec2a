// Runs commands or plans in an instance of the module: in Node and in the Worker runtime alike.

/** The bytes of all answers, and of what there is at the end; `what` is `run` for commands, or `plan`. */
export function run(instance, what, input) {
  const { memory, reserve, output } = instance.exports;
  const bytes = new TextEncoder().encode(input);
  const at = reserve(bytes.length);
  new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
  const length = instance.exports[what]();
  return new Uint8Array(memory.buffer, output(), length).slice();
}
