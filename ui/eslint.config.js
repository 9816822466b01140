import js from "@eslint/js";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

// User-visible texts belong in src/texts, where they are reviewed and translated. A string in code counts as one if it
// contains two words or looks like the beginning of a sentence, which ids and class names do not.
const PROSE = "/[A-Za-z]{2},? [A-Za-z]{2}|^[A-Z][a-z]+(?:[.…?!:]|$)/";
const SENTENCE = "/^[A-Z][a-z]+,? [a-z]/";
const LABELS =
  "/^(placeholder|title|aria-(label|description|valuetext)|alt|label|description|hint|adds|of|none|yes|no|verb)$/";

const strings = (where, pattern) => [
  `${where} Literal[value=${pattern}]`,
  `${where} TemplateElement[value.cooked=${pattern}]`,
];
const restricted = (selectors) => [
  "error",
  ...selectors.map((selector) => ({ selector, message: "Texts people read stand in the modules of src/texts" })),
];
const IN_SCRIPTS = strings("Program", SENTENCE);
const IN_COMPONENTS = [
  ...strings("SvelteScriptElement", SENTENCE),
  ":not(SvelteStyleElement) > SvelteText[value=/[A-Za-z]{2}/]",
  `SvelteAttribute[key.name=${LABELS}] > SvelteLiteral[value=/[A-Za-z]{2}/]`,
  ...strings(`SvelteAttribute[key.name=${LABELS}] > SvelteMustacheTag`, PROSE),
  ...strings(":not(SvelteAttribute, SvelteStyleDirective) > SvelteMustacheTag", PROSE),
];

export default ts.config(
  { ignores: ["dist/", "node_modules/", "src/lib/bindings.ts"] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser } },
    rules: {
      // A leading underscore marks what is unused on purpose.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      // Non-reactive maps and sets are intended: they are replaced as a whole.
      "svelte/prefer-svelte-reactivity": "off",
      // {" "} keeps a space that the formatter would remove.
      "svelte/no-useless-mustaches": "off",
      eqeqeq: ["error", "always", { null: "ignore" }],
    },
  },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    languageOptions: { parserOptions: { parser: ts.parser } },
  },
  {
    files: ["src/**/*.ts"],
    ignores: ["src/texts/**", "src/testing/**", "**/*.test.ts"],
    rules: { "no-restricted-syntax": restricted(IN_SCRIPTS) },
  },
  {
    files: ["src/**/*.svelte"],
    rules: { "no-restricted-syntax": restricted(IN_COMPONENTS) },
  },
  {
    files: ["tests/**", "scripts/**", "*.config.*"],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
);
