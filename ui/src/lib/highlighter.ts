// lowlight, for highlight.js as a tree instead of HTML: 192 languages are known to it, 17 are bundled here.

import bash from "highlight.js/lib/languages/bash";
import csharp from "highlight.js/lib/languages/csharp";
import go from "highlight.js/lib/languages/go";
import http from "highlight.js/lib/languages/http";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { CodeKind, CodePiece } from "./highlighting.svelte";

const lowlight = createLowlight({
  ...{ bash, csharp, go, http, ini, java, javascript, json, kotlin, php, python },
  ...{ ruby, rust, sql, typescript, xml, yaml },
});

/** The scopes of highlight.js that are told apart. */
const KINDS: Record<string, CodeKind> = {
  ...{ "hljs-keyword": "keyword", "hljs-literal": "keyword", "hljs-tag": "keyword", "hljs-name": "keyword" },
  ...{ "hljs-selector-tag": "keyword", "hljs-operator": "keyword" },
  ...{ "hljs-string": "string", "hljs-regexp": "string", "hljs-char": "string", "hljs-link": "string" },
  ...{ "hljs-number": "number", "hljs-symbol": "number" },
  ...{ "hljs-title": "name", "hljs-attr": "name", "hljs-attribute": "name", "hljs-section": "name" },
  ...{ "hljs-variable": "name", "hljs-property": "name", "hljs-template-variable": "name" },
  ...{ "hljs-type": "type", "hljs-built_in": "type", "hljs-class": "type", "hljs-meta": "type" },
  ...{ "hljs-comment": "comment", "hljs-quote": "comment", "hljs-doctag": "comment" },
};

type Nodes = ReturnType<typeof lowlight.highlight>["children"];

/** Splits code of a bundled language into its parts. */
export function highlight(code: string, language: string): CodePiece[] {
  const pieces: CodePiece[] = [];
  function walk(nodes: Nodes, kind: CodeKind | null) {
    for (const node of nodes) {
      if (node.type === "text") pieces.push({ text: node.value, kind });
      else if (node.type === "element") {
        const classes = node.properties["className"];
        const known = Array.isArray(classes) ? classes.map((name) => KINDS[String(name)]).find(Boolean) : undefined;
        walk(node.children as Nodes, known ?? kind);
      }
    }
  }
  walk(lowlight.highlight(language, code).children, null);
  return pieces;
}
