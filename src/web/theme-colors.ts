/** Told when another theme is chosen: charts are drawn on a canvas, which does not follow the style by itself. */
export const themeEvents = new EventTarget();

/** The colours of the theme by their custom properties. A property is not resolved for the theme; a colour is. */
export function resolvedColors(): (name: string) => string {
  const probe = document.createElement('i');
  probe.hidden = true;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const names = [
    '--surface',
    '--text',
    '--quiet',
    '--grid',
    '--accent',
    '--second',
    '--third',
    '--warn',
    '--good',
    '--bad',
  ];
  const found = new Map<string, string>();
  for (const name of names) {
    probe.style.color = `var(${name})`;
    found.set(name, style.color);
  }
  probe.remove();
  return (name) => found.get(name) ?? 'black';
}
