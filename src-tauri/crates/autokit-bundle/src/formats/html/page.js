"use strict";
(() => {
  // Every text of a card reaches the page as text: nothing here makes markup from a string.
  const ROW = 68;
  const SPARE = 8;
  const cards = JSON.parse(document.getElementById("cards").textContent);
  const by = (id) => document.getElementById(id);
  const [main, query, kind, status, list, rows, detail, paper] =
    ["main", "query", "kind", "status", "list", "rows", "detail", "paper"].map(by);
  const number = new Intl.NumberFormat("en");
  const fold = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

  const names = cards.map((card) => fold(card.name));
  const texts = cards.map((card, at) =>
    [names[at], card.under, card.about, card.code || "", ...card.facts.map((fact) => fact.text)].map(fold).join("\n"));
  const places = new Map(cards.map((card, at) => [card.anchor, at]));

  let found = [];
  let chosen = -1;
  const drawn = new Map();

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) {
      element.textContent = text;
      element.dir = "auto";
    }
    return element;
  }

  // Cards whose name fits come first; within that the order of names stays.
  function search() {
    const words = fold(query.value).split(/\s+/).filter(Boolean);
    const whole = words.join(" ");
    const ranks = [[], [], [], []];
    cards.forEach((card, at) => {
      if (kind.value && card.kind !== kind.value) return;
      if (!words.every((word) => texts[at].includes(word))) return;
      const name = names[at];
      const rank = name === whole ? 0 : name.startsWith(whole) ? 1 : words.every((word) => name.includes(word)) ? 2 : 3;
      ranks[rank].push(at);
    });
    found = ranks.flat();
    const all = found.length === cards.length;
    status.textContent = all
      ? "All tools by name"
      : `${number.format(found.length)} of ${number.format(cards.length)} tools`;
    list.scrollTop = 0;
    redraw();
    // What stands beside the list is one of the list.
    if (!found.includes(chosen)) choose(found.length ? found[0] : -1, true);
  }

  function redraw() {
    drawn.forEach((row) => row.remove());
    drawn.clear();
    rows.replaceChildren();
    rows.style.height = `${found.length * ROW}px`;
    if (!found.length) {
      rows.append(make("p", "nothing", cards.length ? "No tool fits. Try fewer or other words, or another kind." : "There are no tools on this page."));
    }
    draw();
  }

  // Only the rows in sight are in the document, however many were found.
  function draw() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - SPARE);
    const end = Math.min(found.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + SPARE);
    for (const [place, row] of drawn) {
      if (place < first || place >= end) {
        row.remove();
        drawn.delete(place);
      }
    }
    for (let place = first; place < end; place += 1) {
      if (!drawn.has(place)) {
        const row = makeRow(place);
        drawn.set(place, row);
        // In the order of the list, which a screen reader goes by.
        const after = [...drawn.keys()].filter((other) => other > place).sort((a, b) => a - b)[0];
        rows.insertBefore(row, after === undefined ? null : drawn.get(after));
      }
      drawn.get(place).setAttribute("aria-selected", String(found[place] === chosen));
    }
    const active = drawn.get(found.indexOf(chosen));
    if (active) list.setAttribute("aria-activedescendant", active.id);
    else list.removeAttribute("aria-activedescendant");
  }

  function makeRow(place) {
    const card = cards[found[place]];
    const row = make("div", "row");
    row.id = `row-${found[place]}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-setsize", String(found.length));
    row.setAttribute("aria-posinset", String(place + 1));
    row.style.transform = `translateY(${place * ROW}px)`;
    const top = make("div", "top");
    top.append(make("span", "name", card.name), make("span", "side", card.side));
    row.append(top, make("div", "text", card.about.slice(0, 240) || "No description"));
    row.addEventListener("click", () => {
      choose(found[place]);
      read();
    });
    return row;
  }

  function choose(at, keepPlace) {
    chosen = at;
    detail.replaceChildren();
    if (at >= 0) {
      const back = make("button", "back", "← All results");
      back.type = "button";
      back.addEventListener("click", () => {
        main.classList.remove("reading");
        list.focus();
      });
      detail.append(back, ...describe(cards[at]));
      detail.scrollTop = 0;
      if (!keepPlace) history.replaceState(null, "", `#${cards[at].anchor}`);
    }
    draw();
  }

  // On a narrow page the tool takes the place of the list.
  function read() {
    main.classList.add("reading");
    if (list.offsetParent === null) detail.focus();
  }

  function describe(card) {
    const parts = [make("h2", "", card.name)];
    const under = make("p", "under", card.under);
    if (card.verified) under.append(" ", make("span", "badge", "Verified"));
    parts.push(under);
    if (card.about) parts.push(make("p", "about", card.about));
    if (card.code) {
      const box = make("div", "code");
      const bar = make("div", "bar");
      const pre = make("pre");
      const code = make("code", "", card.code);
      code.dir = "ltr";
      const copy = make("button", "", "Copy");
      copy.type = "button";
      copy.addEventListener("click", () => copyText(code, copy));
      bar.append(make("span", "", card.language), copy);
      pre.tabIndex = 0;
      pre.setAttribute("role", "region");
      pre.setAttribute("aria-label", "Lines to copy");
      pre.append(code);
      box.append(bar, pre);
      parts.push(box);
    }
    if (card.facts.length) {
      const facts = make("dl");
      for (const fact of card.facts) {
        const value = make("dd", fact.mono ? "mono" : "");
        if (fact.link && /^https?:\/\//.test(fact.link)) {
          const link = make("a", "", fact.text);
          link.href = fact.link;
          link.target = "_blank";
          link.rel = "noopener noreferrer";
          value.append(link);
        } else {
          value.textContent = fact.text;
          value.dir = fact.mono ? "ltr" : "auto";
        }
        facts.append(make("dt", "", fact.label), value);
      }
      parts.push(facts);
    }
    return parts;
  }

  async function copyText(code, button) {
    let copied = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Where the clipboard is closed to pages, the lines are selected for the keyboard.
      getSelection().selectAllChildren(code);
      copied = document.execCommand("copy");
    }
    button.textContent = copied ? "Copied" : "Selected; press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  }

  function move(to) {
    if (!found.length) return;
    const place = Math.max(0, Math.min(found.length - 1, to));
    const top = place * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    draw();
    choose(found[place]);
  }

  function keys(event) {
    const place = found.indexOf(chosen);
    const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
    const inList = event.target === list;
    const to = {
      ArrowDown: place + 1,
      ArrowUp: Math.max(0, place - 1),
      PageDown: place + page,
      PageUp: place - page,
      Home: inList ? 0 : undefined,
      End: inList ? found.length - 1 : undefined,
    }[event.key];
    if (to !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      move(to);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (place < 0) move(0);
      if (chosen >= 0) {
        main.classList.add("reading");
        detail.focus();
      }
    }
  }

  let waiting = 0;
  query.addEventListener("input", () => {
    main.classList.remove("reading");
    clearTimeout(waiting);
    waiting = setTimeout(search, cards.length > 2000 ? 80 : 0);
  });
  query.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      clearTimeout(waiting);
      search();
    }
    keys(event);
  });
  list.addEventListener("keydown", keys);
  kind.addEventListener("change", () => {
    main.classList.remove("reading");
    search();
  });
  by("find").addEventListener("submit", (event) => event.preventDefault());
  list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", draw);
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      main.classList.remove("reading");
      query.focus();
      query.select();
    } else if (event.key === "Escape" && main.classList.contains("reading")) {
      main.classList.remove("reading");
      list.focus();
    }
  });

  // On paper stands everything that was found, and only while it is printed.
  addEventListener("beforeprint", () => {
    paper.replaceChildren(...found.map((at) => {
      const article = make("article");
      article.append(...describe(cards[at]));
      return article;
    }));
  });
  addEventListener("afterprint", () => paper.replaceChildren());

  function linked() {
    const at = places.get(location.hash.slice(1));
    if (at === undefined) return false;
    const place = found.indexOf(at);
    if (place >= 0) list.scrollTop = Math.max(0, place * ROW - list.clientHeight / 3);
    choose(at, true);
    read();
    return true;
  }
  addEventListener("hashchange", linked);

  const kinds = new Map();
  for (const card of cards) kinds.set(card.kind, (kinds.get(card.kind) || 0) + 1);
  kind.append(new Option("All kinds", ""));
  for (const [name, count] of [...kinds].sort()) kind.append(new Option(`${name} (${number.format(count)})`, name));
  kind.parentElement.hidden = kinds.size < 2;

  main.hidden = false;
  search();
  linked();
})();
