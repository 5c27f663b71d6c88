import {
  type AllHTMLAttributes,
  h as create,
  type FunctionComponent,
  isValidElement,
  type Key,
  type VNode,
} from 'preact';
import { mounted } from './mount.ts';

/** What an element can hold. Texts become text nodes and nothing else: what the upstream sends is shown, never run. */
export type Child = VNode | string | number | null | undefined | false | readonly Child[];

type Tag = keyof HTMLElementTagNameMap;
type Attributes<K extends Tag> = AllHTMLAttributes<HTMLElementTagNameMap[K]>;

/** Attributes as Preact takes them; one that is null is left out. */
export type Props<K extends Tag> = { [N in keyof Attributes<K>]?: Attributes<K>[N] | null } & {
  key?: Key;
  [name: `data-${string}`]: string | number | boolean | null | undefined;
};

/** A component, with the properties that it declares. */
type Component<P> = (props: P) => Child;

/**
 * Preact's `h`, with the classes of an element behind its name, `h('p.note', 'text')`, and its attributes only where it has some. A
 * component always takes its properties.
 */
export function h<K extends Tag>(name: K | `${K}.${string}`, props: Props<K>, ...children: Child[]): VNode;
export function h(name: Tag | `${Tag}.${string}`, ...children: Child[]): VNode;
export function h<P extends object>(
  component: Component<P>,
  props: NoInfer<P> & { key?: Key },
  ...children: Child[]
): VNode;
export function h(kind: string | Component<object>, ...content: unknown[]): VNode {
  const [first, ...rest] = content;
  const [given, children] = isProps(first) ? [first, rest] : [{}, content];
  if (typeof kind !== 'string') return create(kind as FunctionComponent, given, ...(children as []));
  const [name = '', ...classes] = kind.split('.');
  const props: Record<string, unknown> = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== null),
  );
  if (name === 'a' && typeof props.href === 'string') props.href = mounted(props.href);
  const named = [...classes, props.class].filter(Boolean).join(' ');
  return create(name, named === '' ? props : { ...props, class: named }, ...(children as []));
}

function isProps(given: unknown): given is Record<string, unknown> {
  return typeof given === 'object' && given !== null && !Array.isArray(given) && !isValidElement(given);
}

export type { VNode };
