/** What can stand inside an element. Texts become text nodes and nothing else: whatever the upstream sends is shown, never run. */
export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Listener = (event: Event) => void;

/** Attributes by name, listeners under `on`, custom properties of the style under `vars`. */
export interface Attributes {
  [name: string]: string | number | boolean | null | undefined | Record<string, Listener | string>;
  on?: Record<string, Listener>;
  vars?: Record<string, string>;
}

type Tag = keyof HTMLElementTagNameMap;

/** One element, its classes after its name: `h('p.note', 'text')`. Attributes, where there are any, come before the children. */
export function h<K extends Tag>(
  name: K | `${K}.${string}`,
  ...content: [Attributes, ...Child[]] | Child[]
): HTMLElementTagNameMap[K] {
  const [tag = '', ...classes] = name.split('.');
  const element = document.createElement(tag as K);
  if (classes.length > 0) element.classList.add(...classes);
  const [first, ...rest] = content;
  if (isAttributes(first)) setAll(element, first);
  append(element, isAttributes(first) ? (rest as Child[]) : (content as Child[]));
  return element;
}

function isAttributes(given: Attributes | Child): given is Attributes {
  return typeof given === 'object' && given !== null && !(given instanceof Node) && !Array.isArray(given);
}

function setAll(element: HTMLElement, { on = {}, vars = {}, ...plain }: Attributes): void {
  for (const [name, value] of Object.entries(plain)) {
    if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(vars)) element.style.setProperty(name, value);
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
