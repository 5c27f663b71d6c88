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

/** What a pointer is held down on, and what is to be filled when it is let go: a button that is replaced meanwhile is not clicked. */
let pressed: EventTarget | null = null;
const postponed = new Map<Element, Child[]>();

export function watchPointer(): void {
  const release = (): void => {
    pressed = null;
  };
  document.addEventListener('pointerdown', ({ target }) => {
    pressed = target;
  });
  // Before whoever listens to the click.
  document.addEventListener('click', release, { capture: true });
  for (const end of ['pointerup', 'pointercancel'])
    document.addEventListener(end, () =>
      setTimeout(() => {
        release();
        const filled = [...postponed];
        postponed.clear();
        for (const [parent, children] of filled) fill(parent, ...children);
      }),
    );
}

/** Puts new content into an element, keeping the focus on the field that had it: live numbers must not interrupt typing, nor a click. */
export function fill(parent: Element, ...children: Child[]): void {
  postponed.delete(parent);
  if (pressed instanceof Node && parent.contains(pressed)) {
    postponed.set(parent, children);
    return;
  }
  const active = parent.contains(document.activeElement) ? document.activeElement : null;
  const [id, caret] = [active?.id, active instanceof HTMLInputElement ? active.selectionStart : null];
  parent.replaceChildren();
  append(parent, children);
  if (!id) return;
  const again = parent.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
  again?.focus({ preventScroll: true });
  if (again instanceof HTMLInputElement && caret !== null) again.setSelectionRange(caret, caret);
}

/**
 * The same for fields that people fill in: an element that is to be there again stays the element it is. Nobody loses the text that they
 * are typing, an open list or half a click to a redraw. Its listeners stay too, so they must not know what was drawn when it was made.
 */
export function refill(parent: Element, ...children: Child[]): void {
  const fresh = document.createDocumentFragment();
  append(fresh, children);
  become(parent, fresh);
}

function become(old: Node, fresh: Node): void {
  let at = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const same = sameFrom(at, wanted);
    if (same === null) {
      old.insertBefore(wanted, at);
      continue;
    }
    at = removeUpTo(old, at, same).nextSibling;
    if (same instanceof Element && wanted instanceof Element) update(same, wanted);
    else same.nodeValue = wanted.nodeValue;
  }
  removeUpTo(old, at, null);
}

function sameFrom(first: ChildNode | null, wanted: Node): ChildNode | null {
  for (let node = first; node; node = node.nextSibling)
    if (node.nodeName === wanted.nodeName && keyOf(node) === keyOf(wanted)) return node;
  return null;
}

/** An element is known by its id, or by the first one within. */
function keyOf(node: Node): string {
  return node instanceof Element ? node.id || (node.querySelector('[id]')?.id ?? '') : '';
}

function removeUpTo<T extends ChildNode | null>(parent: Node, first: ChildNode | null, end: T): T {
  for (let node = first; node && node !== end; ) {
    const next = node.nextSibling;
    parent.removeChild(node);
    node = next;
  }
  return end;
}

function update(old: Element, fresh: Element): void {
  const isTyping = isBeingTyped(old, fresh);
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !(isTyping && name === 'value')) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value && !(isTyping && name === 'value')) old.setAttribute(name, value);
  become(old, fresh);
  if (isTyping || !isControl(old) || !isControl(fresh)) return;
  if (old.value !== fresh.value && old.type !== 'file') old.value = fresh.value;
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) old.checked = fresh.checked;
}

function isControl(element: Element): element is HTMLInputElement | HTMLSelectElement {
  return element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
}

/** Whether a person is in the field, and it says neither what it did when it was drawn nor what it is to say now. */
function isBeingTyped(old: Element, fresh: Element): boolean {
  if (old !== document.activeElement || !(old instanceof HTMLInputElement)) return false;
  return (
    old.validity.badInput ||
    (old.value !== old.defaultValue && old.value !== (fresh as HTMLInputElement).value)
  );
}
