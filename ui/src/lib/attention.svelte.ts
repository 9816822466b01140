// Whether somebody reads or uses messages that would otherwise leave by themselves.

/** Whether the pointer or the focus is on an element. Its `handlers` belong on that element. */
export class Attention {
  #hovered = $state(false);
  #focused = $state(false);
  /** The element that had the focus before it moved here. */
  #before: HTMLElement | null = null;

  readonly handlers = {
    onpointerenter: () => void (this.#hovered = true),
    onpointerleave: () => void (this.#hovered = false),
    onfocusin: ({ relatedTarget }: FocusEvent) => {
      if (!this.#focused && relatedTarget instanceof HTMLElement) this.#before = relatedTarget;
      this.#focused = true;
    },
    onfocusout: ({ currentTarget, relatedTarget }: FocusEvent) => {
      this.#focused = (currentTarget as HTMLElement).contains(relatedTarget as Node | null);
    },
  };

  /** Whether the element is used right now. */
  get on(): boolean {
    return this.#hovered || this.#focused;
  }

  /** Forgets the pointer and the focus, which leave without an event when what they are on is removed. */
  end(): void {
    [this.#hovered, this.#focused] = [false, false];
  }

  /** Returns the focus to where it came from, if it is on an element that is removed, or was lost with one. */
  giveBack(removed?: HTMLElement): void {
    const active = document.activeElement;
    const lost = active === null || active === document.body || !!removed?.contains(active);
    if (lost && this.#before?.isConnected) this.#before.focus({ preventScroll: true });
  }
}
