// The address for programs that cannot start AutoKit, as it is typed and shown.

/** What stands where the token is. */
const HIDDEN = "••••••••";

const TOKEN = /(Bearer )([^"\s]+)/;

/** The token in the lines for a program's settings; none where there is none. */
export function tokenOf(lines: string): string | null {
  return TOKEN.exec(lines)?.[2] ?? null;
}

/** The lines as they may be seen: over a shoulder, or in a picture of the screen. */
export function withoutToken(lines: string): string {
  const token = tokenOf(lines);
  return token ? lines.replaceAll(token, HIDDEN) : lines;
}

/** A port as it was typed; none if it is no port a person may open. */
export function portOf(typed: string): number | null {
  const port = /^\d{1,5}$/.test(typed.trim()) ? Number(typed) : 0;
  return port >= 1024 && port <= 65_535 ? port : null;
}
