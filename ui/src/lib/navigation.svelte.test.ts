// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { Navigation } from "./navigation.svelte";

const placeOf = ({ pane, card, proposal, section, where }: Navigation) => ({ pane, card, proposal, section, where });

describe("navigation", () => {
  it("goes back and forward between panes and what is open in them", () => {
    const navigation = new Navigation();
    expect([navigation.canGoBack, navigation.canGoForward]).toEqual([false, false]);
    navigation.open("a");
    navigation.open("b");
    navigation.review(7);
    navigation.settings("llm");
    navigation.back();
    expect(placeOf(navigation)).toMatchObject({ pane: "review", proposal: 7 });
    navigation.back();
    navigation.back();
    expect(placeOf(navigation)).toMatchObject({ pane: "library", card: "a" });
    navigation.back();
    expect(navigation.pane).toBe("ask");
    navigation.back();
    expect(navigation.pane).toBe("ask");
    for (let step = 0; step < 9; step++) navigation.forward();
    expect(placeOf(navigation)).toMatchObject({ pane: "settings", section: "llm" });
  });

  it("leaves other panes as they are", () => {
    const navigation = new Navigation();
    navigation.open("a");
    navigation.review(1);
    navigation.review(2);
    navigation.back();
    navigation.back();
    expect(placeOf(navigation)).toMatchObject({ pane: "library", card: "a" });
    navigation.review();
    expect(navigation.proposal).toBe(1);
  });

  it("leaves a form in the library only once that is agreed to", () => {
    const navigation = new Navigation();
    navigation.open("a");
    navigation.open("b");
    let go: (() => void) | null = null;
    navigation.hold = (wanted) => ((go = wanted), true);
    // The form stays where it is while another pane is shown.
    navigation.go("review");
    expect([navigation.pane, go]).toEqual(["review", null]);
    navigation.back();
    expect([navigation.pane, go]).toEqual(["library", null]);
    for (const leave of [() => navigation.back(), () => navigation.open("a"), () => navigation.add()]) {
      leave();
      expect([navigation.card, navigation.adding]).toEqual(["b", false]);
    }
    navigation.back();
    navigation.hold = null;
    go!();
    expect([navigation.card, navigation.canGoForward]).toEqual(["a", true]);
  });

  it("forgets the way forward when one goes elsewhere", () => {
    const navigation = new Navigation();
    navigation.go("library");
    navigation.go("review");
    navigation.back();
    navigation.go("activity");
    expect(navigation.canGoForward).toBe(false);
    navigation.back();
    expect(navigation.pane).toBe("library");
  });

  it("remembers steps through a list as one place", () => {
    const navigation = new Navigation();
    navigation.review(1);
    for (let proposal = 2; proposal < 50; proposal++) navigation.visit({ proposal }, { replace: true });
    navigation.open("a");
    navigation.back();
    expect(navigation.proposal).toBe(49);
    navigation.back();
    expect(navigation.pane).toBe("ask");
  });

  it("remembers no place twice in a row, and not without end", () => {
    const navigation = new Navigation();
    navigation.go("library");
    navigation.go("library");
    navigation.back();
    expect(navigation.pane).toBe("ask");
    for (let card = 0; card < 500; card++) navigation.open(String(card));
    let steps = 0;
    for (; navigation.canGoBack; steps++) navigation.back();
    expect([steps, navigation.card]).toEqual([99, "400"]);
  });

  it("tells of a visit to the part of Settings that is looked at already", () => {
    const navigation = new Navigation();
    navigation.settings("llm");
    const { visits } = navigation;
    navigation.settings("llm");
    expect(navigation.visits).toBe(visits + 1);
    navigation.go("settings");
    expect(navigation.section).toBeNull();
  });

  it("closes a card so that one can go back to it, and not to one that is gone", () => {
    const navigation = new Navigation();
    navigation.open("a");
    navigation.closeCard();
    navigation.back();
    expect(navigation.card).toBe("a");
    navigation.visit({ card: null }, { replace: true });
    navigation.go("ask");
    navigation.back();
    expect(navigation.card).toBeNull();
  });
});
