/** Scripted trouble. */
export class Faults {
  set(_spec: string): void {}
  fired(): Record<string, number> {
    return {};
  }
}
