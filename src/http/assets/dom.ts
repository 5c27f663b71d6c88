/** What can stand inside an element. Texts become text nodes and nothing else: whatever the upstream sends is shown, never run. */
export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Listener = (event: Event) => void;

/** Attributes by name, listeners under `on`, custom properties of the style under `vars`. */
export interface Attributes {
  [name: string]: string | number | boolean | null | undefined | Record<string, Listener | string>;
  on?: Record<string, Listener>;
  vars?: Record<string, string>;
}

/** One element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { on = {}, vars = {}, ...plain } = attributes;
  for (const [name, value] of Object.entries(plain)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(name, value);
  append(element, children);
  return element;
}

export function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(parent, child);
    else if (child instanceof Node) parent.appendChild(child);
    else if (child !== null && child !== undefined && child !== false)
      parent.appendChild(document.createTextNode(String(child)));
  }
}

/** Puts new content into an element, keeping the focus on the field that had it: live numbers must not interrupt typing. */
export function fill(parent: Element, ...children: Child[]): void {
  const active = parent.contains(document.activeElement) ? document.activeElement : null;
  const [id, caret] = [active?.id, active instanceof HTMLInputElement ? active.selectionStart : null];
  parent.replaceChildren();
  append(parent, children);
  if (!id) return;
  const again = parent.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
  again?.focus({ preventScroll: true });
  if (again instanceof HTMLInputElement && caret !== null) again.setSelectionRange(caret, caret);
}
