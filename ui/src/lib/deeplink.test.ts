import { describe, expect, it } from "vitest";
import { deepLink, openedFile } from "./deeplink";

const link = (url: string) => `autokit://import?url=${encodeURIComponent(url)}`;

describe("a link", () => {
  it("names the address of a bundle to look at", () => {
    expect(deepLink(link("https://example.org/team.toolcards?v=2&x=1"))).toEqual({
      url: "https://example.org/team.toolcards?v=2&x=1",
    });
    expect(deepLink("autokit://import/?url=http://example.org/a")).toEqual({ url: "http://example.org/a" });
    expect(deepLink("AUTOKIT://import?url=HTTPS://Example.org/a")).toEqual({ url: "https://example.org/a" });
  });

  it("asks for nothing else", () => {
    for (const other of [
      "",
      "import",
      "autokit://",
      "autokit://import",
      "autokit://import?url=",
      "autokit://import?path=/etc/passwd",
      "autokit://export?url=https://example.org",
      "autokit://import/now?url=https://example.org",
      "autokit://import?url=https://example.org&trust=yes",
      "autokit://import?url=https://a.example&url=https://b.example",
      "autokit://user@import?url=https://example.org",
      "autokit://import?url=https://example.org#now",
      "https://import?url=https://example.org",
      "javascript:alert(1)",
    ]) {
      expect(deepLink(other), other).toBeNull();
    }
  });

  it("takes only addresses of the web, without a password and without hidden letters", () => {
    for (const url of [
      "file:///etc/passwd",
      "ftp://example.org/a",
      "javascript:alert(1)",
      "data:text/plain,a",
      "//example.org/a",
      "example.org/a",
      "https://",
      "https://me:secret@example.org/a",
      "https://example.org/\u202egpj",
      "https://example.org/a b",
      "https://example.org/\n",
    ]) {
      expect(deepLink(link(url)), url).toBeNull();
    }
  });

  it("is not endless", () => {
    expect(deepLink(link(`https://example.org/${"a".repeat(1900)}`))).not.toBeNull();
    expect(deepLink(link(`https://example.org/${"a".repeat(2100)}`))).toBeNull();
    expect(deepLink(`autokit://import?url=https://example.org/&${"a".repeat(100_000)}`)).toBeNull();
  });
});

describe("a file that is opened", () => {
  it("is named by its path", () => {
    expect(openedFile("file:///home/ann/my%20team.toolcards")).toEqual({ path: "/home/ann/my team.toolcards" });
    expect(openedFile("file:///C:/Users/ann/a.toolcards")).toEqual({ path: "C:/Users/ann/a.toolcards" });
    for (const other of ["autokit://import?url=https://a.example", "file://server/share", "/home/ann", "file:///%zz"])
      expect(openedFile(other), other).toBeNull();
    // A link cannot name a file.
    expect(deepLink("file:///etc/passwd")).toBeNull();
  });
});
