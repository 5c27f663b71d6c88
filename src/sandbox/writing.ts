import type { Random } from './random.ts';
import * as v from './vocabulary.ts';

export interface Topic {
  action: string;
  object: string;
  place: string;
  circumstance: string;
}

export function topic(random: Random): Topic {
  return {
    action: random.pick(v.ACTIONS),
    object: random.pick(v.OBJECTS),
    place: random.pick(v.PLACES),
    circumstance: random.pick(v.CIRCUMSTANCES),
  };
}

/**
 * Every form names the whole topic or draws words of its own: about three million topics under a dozen forms keep
 * two equal titles rare even among a million.
 */
export function writeTitle(random: Random, about: Topic): string {
  const { action, object, place, circumstance } = about;
  switch (random.int(10)) {
    case 0:
      return capital(`${object} ${random.pick(v.COMPLAINTS)} ${place} ${circumstance}`);
    case 1:
      return capital(
        `${object} ${random.pick(v.COMPLAINTS)} ${place} since we connected ${random.pick(v.TOOLS)}`,
      );
    case 2:
      return `Option to ${action} ${object} ${place} ${circumstance}`;
    case 3:
      return `Sync ${object} with ${random.pick(v.TOOLS)} ${circumstance}, and ${action} ${random.pick(v.OBJECTS)}`;
    case 4:
      return `Let us ${action} ${object} ${place} ${circumstance}`;
    case 5:
      return `Please make it possible to ${action} ${object} and ${random.pick(v.OBJECTS)} ${place}`;
    case 6:
      return capital(`${action} ${object} ${place} ${circumstance}`);
    case 7:
      return capital(`${action} ${object} together with ${random.pick(v.OBJECTS)} ${circumstance}`);
    case 8:
      return `Ability to ${action} ${object} ${circumstance}, not only ${place}`;
    default:
      return `Keyboard shortcut to ${action} ${object} ${place} ${circumstance}`;
  }
}

/** Two to five sentences: who asks, what hurts, what would help, what it would bring. */
export function writeContent(random: Random, about: Topic): string {
  const sentences = [need(random, about)];
  if (random.chance(0.6)) sentences.unshift(situation(random, about));
  if (random.chance(0.75)) sentences.push(pain(random));
  if (random.chance(0.6)) sentences.push(`That way we could ${random.pick(v.BENEFITS)}.`);
  if (sentences.length === 1 || random.chance(0.25)) sentences.push(closing(random));
  return sentences.join(random.chance(0.15) ? '\n\n' : ' ');
}

function situation(random: Random, { object }: Topic): string {
  return random.chance(0.5)
    ? `We are ${random.pick(v.TRADES)} with ${3 + random.int(240)} people and rely on ${object} every day.`
    : `At ${random.pick(v.TRADES)} like ours, ${object} are the first thing everybody opens in the morning.`;
}

function need(random: Random, { action, object, place, circumstance }: Topic): string {
  switch (random.int(3)) {
    case 0:
      return `It would help a lot if we could ${action} ${object} ${place}, ideally ${circumstance}.`;
    case 1:
      return `There is no way to ${action} ${object} ${place} at the moment, and we need it ${circumstance}.`;
    default:
      return `I was looking for a way to ${action} ${object} ${circumstance} and could not find one ${place}.`;
  }
}

function pain(random: Random): string {
  return random.chance(0.5)
    ? `Right now we have to ${random.pick(v.WORKAROUNDS)}, which takes about ${5 + random.int(85)} minutes a week.`
    : `Until then we ${random.pick(v.WORKAROUNDS)}, and it still does not match ${random.pick(v.TOOLS)}.`;
}

function closing(random: Random): string {
  return random.pick([
    'Happy to test an early version.',
    'Several colleagues asked me to post this.',
    'Thank you for considering it!',
    'I can send examples if that is useful.',
    'We would even move to a higher plan for this.',
  ]);
}

export function writeReply(random: Random, fromTeam: boolean): string {
  return fromTeam ? teamReply(random) : customerReply(random);
}

function customerReply(random: Random): string {
  switch (random.int(5)) {
    case 0:
      return `+1 from us, we have the same problem with ${random.pick(v.OBJECTS)} ${random.pick(v.PLACES)}.`;
    case 1:
      return `We ${random.pick(v.WORKAROUNDS)} for now. It works, but ${random.pick(v.CIRCUMSTANCES)} it is painful.`;
    case 2:
      return `Is there any news on this? It would let us ${random.pick(v.BENEFITS)}.`;
    case 3:
      return `Please think of ${random.pick(v.OBJECTS)} as well, they ${random.pick(v.COMPLAINTS)} too.`;
    default:
      return `For ${random.pick(v.TRADES)} this matters most ${random.pick(v.CIRCUMSTANCES)}. Thanks for listening!`;
  }
}

function teamReply(random: Random): string {
  switch (random.int(4)) {
    case 0:
      return `Thanks for the detail. Would it be enough to ${random.pick(v.ACTIONS)} them ${random.pick(v.PLACES)}?`;
    case 1:
      return `We are looking into ${random.pick(v.OBJECTS)} this quarter and will keep you posted here.`;
    case 2:
      return `A first version is live ${random.pick(v.PLACES)}. Tell us how it works ${random.pick(v.CIRCUMSTANCES)}.`;
    default:
      return `Good point about ${random.pick(v.TOOLS)}. We have linked this to the work on ${random.pick(v.OBJECTS)}.`;
  }
}

/** What the team writes when it moves a post to another status. */
export function writeStatusNote(random: Random, status: string): string {
  return `This is now marked "${status}". Next we look at ${random.pick(v.OBJECTS)} ${random.pick(v.PLACES)}.`;
}

export interface Person {
  name: string;
  email: string;
  alias: string;
}

/** A made-up person; `n` makes the address unique, and only hosts reserved for examples are used. */
export function person(random: Random, n: number): Person {
  const first = random.pick(v.FIRST_NAMES);
  const last = random.pick(v.LAST_NAMES);
  const alias = `${first}.${last}${n}`.toLowerCase();
  return { name: `${first} ${last}`, email: `${alias}@${random.pick(v.MAIL_HOSTS)}`, alias };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
