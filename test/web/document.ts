import { render } from 'preact';
import { type Child, h } from '../../src/web/h.ts';

/**
 * As much of a document as Preact draws into: elements that keep their identity, attributes and listeners. It is no browser; what needs
 * one is in test/dashboard/browser.
 */
class FakeNode {
  readonly ownerDocument = fakeDocument;
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml';
  parentNode: FakeNode | null = null;
  childNodes: FakeNode[] = [];
  data = '';
  /** Properties that Preact sets as such. */
  value: unknown = '';
  defaultValue: unknown = '';
  readonly nodeType: number;
  readonly localName: string;
  readonly attributes: { name: string; value: string }[] = [];
  readonly style: Record<string, unknown> = {};
  readonly #listeners = new Map<string, (event: object) => void>();

  constructor(nodeType: number, localName: string) {
    this.nodeType = nodeType;
    this.localName = localName;
    Object.assign(this.style, {
      setProperty: (name: string, value: string) => Object.assign(this.style, { [name]: value }),
    });
  }

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const beside = this.parentNode?.childNodes ?? [];
    return beside[beside.indexOf(this) + 1] ?? null;
  }

  insertBefore(node: FakeNode, before: FakeNode | null): void {
    node.remove();
    node.parentNode = this;
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
  }

  removeChild(node: FakeNode): void {
    node.remove();
  }

  remove(): void {
    const beside = this.parentNode?.childNodes;
    if (beside?.includes(this)) beside.splice(beside.indexOf(this), 1);
    this.parentNode = null;
  }

  setAttribute(name: string, value: unknown): void {
    this.removeAttribute(name);
    this.attributes.push({ name, value: String(value) });
  }

  removeAttribute(name: string): void {
    const at = this.attributes.findIndex((one) => one.name === name);
    if (at >= 0) this.attributes.splice(at, 1);
  }

  addEventListener(name: string, listener: (event: object) => void): void {
    this.#listeners.set(name, listener);
  }

  removeEventListener(name: string): void {
    this.#listeners.delete(name);
  }

  /** What a person does: `fire('click')`. The target has what is given, such as a value that was typed. */
  fire(type: string, given: object = {}): void {
    Object.assign(this, given);
    const event = { type, target: this, currentTarget: this, preventDefault: () => undefined };
    this.#listeners.get(type)?.call(this, event);
  }

  focus(): void {}

  attribute(name: string): string | null {
    return this.attributes.find((one) => one.name === name)?.value ?? null;
  }

  get text(): string {
    return this.nodeType === 3 ? this.data : this.childNodes.map(({ text }) => text).join('');
  }

  /** Every element below with that name, in their order. */
  all(name: string): FakeNode[] {
    return this.childNodes.flatMap((node) => [...(node.localName === name ? [node] : []), ...node.all(name)]);
  }

  one(name: string, text?: string): FakeNode {
    const found = this.all(name).find((node) => text === undefined || node.text === text);
    if (!found) throw new Error(`no ${name} ${text ?? ''} in: ${this.text}`);
    return found;
  }
}

const fakeDocument = {
  createElementNS: (_namespace: string, name: string): FakeNode => new FakeNode(1, name),
  createElement: (name: string): FakeNode => new FakeNode(1, name),
  createTextNode: (data: string): FakeNode => Object.assign(new FakeNode(3, '#text'), { data }),
};

/** Draws, and draws again in the same place. */
export function drawing(): { root: FakeNode; draw(content: Child): void } {
  const root = new FakeNode(1, 'main');
  return { root, draw: (content) => render(h('div', content), root as unknown as Element) };
}
