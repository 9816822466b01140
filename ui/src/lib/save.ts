// Saves a text as a file by means of a browser download.

/** File extensions by language of the starter code. */
const ENDINGS: Record<string, string> = {
  python: "py",
  typescript: "ts",
  javascript: "js",
  shell: "sh",
  bash: "sh",
  json: "json",
  rust: "rs",
  go: "go",
  java: "java",
  ruby: "rb",
  yaml: "yaml",
  http: "http",
};

/** Returns a file name for a tool's code, such as `google_calendar_toolkit.py`. */
export function fileName(tool: string, language: string): string {
  const stem = tool
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return `${stem || "starter"}.${ENDINGS[language.toLowerCase()] ?? "txt"}`;
}

export function download(name: string, text: string, type = "text/plain"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
