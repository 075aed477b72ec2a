// Judges a recording with the verifying module: as it is, and with each single thing in it changed.
import { run } from "../bytes/run.mjs";
import { changes, packed, read } from "./request.mjs";

/** The outcome as recorded; of the changed ones how many are refused with which code, and which are not. */
export function judged(instance, bytes) {
  const original = read(bytes);
  const outcome = (request) => new TextDecoder().decode(run(instance, "verify", packed(request, original)));
  const told = { as_recorded: outcome(original), refused: {}, accepted: [] };
  if (told.as_recorded !== "accepted") return told;
  for (const [what, request] of changes(original)) {
    const code = outcome(request);
    if (/^[A-Z][A-Za-z0-9.]+$/.test(code)) told.refused[code] = (told.refused[code] ?? 0) + 1;
    else told.accepted.push(`${what}: ${code}`);
  }
  return told;
}
