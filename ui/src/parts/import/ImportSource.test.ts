// @vitest-environment jsdom
// One that can be read, unlike that of jsdom.
import { File } from "node:buffer";
import { fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, describe, expect, it, vi } from "vitest";
import { clear, stage, wait } from "../../testing/stage";
import { importing as texts } from "../../texts/importing";
import ImportSource from "./ImportSource.svelte";

const open = vi.hoisted(() => vi.fn());
vi.mock("@tauri-apps/plugin-dialog", () => ({ open }));

/** Formats of cards and OpenAPI documents, which are files of either sort. */
const READ = ["json", "csv", "yaml", "yml"];

function show(desktop: boolean) {
  stage({}, { desktop });
  const look = vi.fn();
  render(ImportSource, { busy: false, given: {}, look, fail: vi.fn() });
  return look;
}

afterEach(clear);

describe("the file to import", () => {
  it("is of any format that is read, where the system asks for it", async () => {
    open.mockResolvedValue("/pets.yaml");
    const look = show(true);
    await fireEvent.click(screen.getByRole("button", { name: texts.chooseFile }));
    await wait();
    const [{ filters }] = open.mock.calls[0] as [{ filters: { extensions: string[] }[] }];
    expect(filters.flatMap(({ extensions }) => extensions)).toEqual(["toolcards", ...READ]);
    expect(look.mock.calls).toEqual([[{ path: "/pets.yaml" }]]);
  });

  it("is of any format that is text, where the browser asks for it", async () => {
    const look = show(false);
    const box = screen.getByLabelText<HTMLInputElement>(texts.chooseFile);
    expect(box.accept.split(",")).toEqual(expect.arrayContaining(READ.map((format) => `.${format}`)));
    const text = "openapi: 3.0.0\ninfo:\n  title: Pets";
    await fireEvent.change(box, { target: { files: [new File([text], "pets.yaml")] } });
    await vi.waitFor(() => expect(look.mock.calls).toEqual([[{ text }]]));
  });
});
