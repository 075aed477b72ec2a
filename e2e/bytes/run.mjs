// Runs commands in an instance of the module: in Node and in the Worker runtime alike.

/** The bytes of all answers, and of the snapshot at the end. */
export function run(instance, commands) {
  const { memory, reserve, run, output } = instance.exports;
  const input = new TextEncoder().encode(commands);
  const at = reserve(input.length);
  new Uint8Array(memory.buffer, at, input.length).set(input);
  const length = run();
  return new Uint8Array(memory.buffer, output(), length).slice();
}
