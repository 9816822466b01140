// Files from a browser, of which only the text can be sent to the engine.

import { CommandError } from "./host";
import { app as texts } from "../texts/app";

/** Reads a file as text. Rejects a packed bundle, which is a ZIP archive. */
export async function textOf(file: File): Promise<string> {
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (start[0] === 0x50 && start[1] === 0x4b && start[2] === 3 && start[3] === 4) {
    throw new CommandError({
      code: "bad_request",
      message: texts.packed(file.name),
      remedy: texts.packedRemedy,
    });
  }
  return file.text();
}
