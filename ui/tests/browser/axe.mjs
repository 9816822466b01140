// Runs axe on what the page shows, in every color scheme.

import axe from "axe-core";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const SCHEMES = {
  light: { colorScheme: "light", forcedColors: "none" },
  dark: { colorScheme: "dark", forcedColors: "none" },
  "forced colors": { colorScheme: "dark", forcedColors: "active" },
};

/** Media of a page as it is without emulation. */
export const NO_MEDIA = { colorScheme: null, forcedColors: null, reducedMotion: null };

/** Runs axe in the page and returns a line per violation. */
async function violations(tags) {
  const { violations } = await window.axe.run(document, {
    runOnly: { type: "tag", values: tags },
    // Belongs to WCAG 2.2, but is off by default.
    rules: { "target-size": { enabled: true } },
    resultTypes: ["violations"],
  });
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, failureSummary }) => {
      const why = failureSummary.split("\n").slice(1).join("; ").trim();
      return `${id} (${help}): ${target.join(" ")}: ${why}`;
    }),
  );
}

/** Returns what axe finds in the page in every color scheme. */
export async function inspect(page, state) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const found = [];
  for (const [scheme, media] of Object.entries(SCHEMES)) {
    await page.emulateMedia(media);
    // The page follows in the next frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    for (const violation of await page.evaluate(violations, TAGS)) found.push(`${state}, ${scheme}: ${violation}`);
  }
  await page.emulateMedia(NO_MEDIA);
  return found;
}
