import type { Random } from './random.ts';

interface Topic {
  action: string;
  object: string;
  place: string;
  circumstance: string;
}

export function drawTopic(random: Random): Topic {
  return {
    action: random.pick(ACTIONS),
    object: random.pick(OBJECTS),
    place: random.pick(PLACES),
    circumstance: random.pick(CIRCUMSTANCES),
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
      return capital(`${object} ${random.pick(COMPLAINTS)} ${place} ${circumstance}`);
    case 1:
      return capital(
        `${object} ${random.pick(COMPLAINTS)} ${place} since we connected ${random.pick(TOOLS)}`,
      );
    case 2:
      return `Option to ${action} ${object} ${place} ${circumstance}`;
    case 3:
      return `Sync ${object} with ${random.pick(TOOLS)} ${circumstance}, and ${action} ${random.pick(OBJECTS)}`;
    case 4:
      return `Let us ${action} ${object} ${place} ${circumstance}`;
    case 5:
      return `Please make it possible to ${action} ${object} and ${random.pick(OBJECTS)} ${place}`;
    case 6:
      return capital(`${action} ${object} ${place} ${circumstance}`);
    case 7:
      return capital(`${action} ${object} together with ${random.pick(OBJECTS)} ${circumstance}`);
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
  if (random.chance(0.6)) sentences.push(`That way we could ${random.pick(BENEFITS)}.`);
  if (sentences.length === 1 || random.chance(0.25)) sentences.push(closing(random));
  return sentences.join(random.chance(0.15) ? '\n\n' : ' ');
}

function situation(random: Random, { object }: Topic): string {
  return random.chance(0.5)
    ? `We are ${random.pick(TRADES)} with ${3 + random.int(240)} people and rely on ${object} every day.`
    : `At ${random.pick(TRADES)} like ours, ${object} are the first thing everybody opens in the morning.`;
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
    ? `Right now we have to ${random.pick(WORKAROUNDS)}, which takes about ${5 + random.int(85)} minutes a week.`
    : `Until then we ${random.pick(WORKAROUNDS)}, and it still does not match ${random.pick(TOOLS)}.`;
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
      return `+1 from us, we have the same problem with ${random.pick(OBJECTS)} ${random.pick(PLACES)}.`;
    case 1:
      return `We ${random.pick(WORKAROUNDS)} for now. It works, but ${random.pick(CIRCUMSTANCES)} it is painful.`;
    case 2:
      return `Is there any news on this? It would let us ${random.pick(BENEFITS)}.`;
    case 3:
      return `Please think of ${random.pick(OBJECTS)} as well, they ${random.pick(COMPLAINTS)} too.`;
    default:
      return `For ${random.pick(TRADES)} this matters most ${random.pick(CIRCUMSTANCES)}. Thanks for listening!`;
  }
}

function teamReply(random: Random): string {
  switch (random.int(4)) {
    case 0:
      return `Thanks for the detail. Would it be enough to ${random.pick(ACTIONS)} them ${random.pick(PLACES)}?`;
    case 1:
      return `We are looking into ${random.pick(OBJECTS)} this quarter and will keep you posted here.`;
    case 2:
      return `A first version is live ${random.pick(PLACES)}. Tell us how it works ${random.pick(CIRCUMSTANCES)}.`;
    default:
      return `Good point about ${random.pick(TOOLS)}. We have linked this to the work on ${random.pick(OBJECTS)}.`;
  }
}

/** What the team writes when it moves a post to another status. */
export function writeStatusNote(random: Random, status: string): string {
  return `This is now marked "${status}". Next we look at ${random.pick(OBJECTS)} ${random.pick(PLACES)}.`;
}

interface Person {
  name: string;
  email: string;
  alias: string;
}

/** A made-up person; `n` makes the address unique, and only hosts reserved for examples are used. */
export function makePerson(random: Random, n: number): Person {
  const first = random.pick(FIRST_NAMES);
  const last = random.pick(LAST_NAMES);
  const alias = `${first}.${last}${n}`.toLowerCase();
  return { name: `${first} ${last}`, email: `${alias}@${random.pick(MAIL_HOSTS)}`, alias };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The words of the sample world. Everything written in it is put together from these lists. */

export const BOARDS = [
  { slug: 'feature-requests', name: 'Feature requests' },
  { slug: 'bugs', name: 'Bugs' },
  { slug: 'integrations', name: 'Integrations' },
  { slug: 'mobile', name: 'Mobile apps' },
  { slug: 'reporting', name: 'Reporting' },
  { slug: 'account-billing', name: 'Account and billing' },
] as const;

export const STATUSES = [
  { name: 'Under review', color: '#8a94a6' },
  { name: 'Planned', color: '#3f7fd9' },
  { name: 'In progress', color: '#e0a11b' },
  { name: 'Completed', color: '#2f9e5f' },
  { name: 'Needs information', color: '#a35bc9' },
  { name: 'Closed', color: '#c8504b' },
] as const;

const FIRST_NAMES = words(`
  Ada Alan Alice Amir Ana Anton Astrid Beatriz Ben Carla Carlos Chloe Clara Daniel Daria David Diego Elena Elias Emma
  Erik Fatima Felix Fiona Gabriel Grace Hana Hannah Hugo Ida Igor Ines Isaac Ivan Jana Jonas Julia Kai Karim Lars Laura
  Leila Leo Lin Lucas Luisa Maria Marta Mateo Maya Mei Milan Mina Nadia Nina Noah Nora Olga Oliver Omar Oscar Paula
  Pedro Petra Priya Rafael Ravi Robin Rosa Samir Sara Simon Sofia Stefan Tara Thomas Tomas Uma Vera Victor Wei Yara
  Yusuf Zoe`);

const LAST_NAMES = words(`
  Adams Almeida Andersen Bauer Becker Berg Bianchi Brown Carter Castro Chen Clark Costa Cruz Davies Diaz Dubois Evans
  Fischer Fontaine Garcia Gomez Gray Green Gruber Hall Hansen Harris Hill Horvat Hughes Ito Ivanov Jensen Johnson Jones
  Kaya Keller Khan Kim King Klein Kowalski Kumar Lang Larsen Lee Lopez Marino Martin Meyer Miller Moore Moreau Morgan
  Nguyen Nielsen Novak Olsen Park Patel Pereira Petrov Popescu Reed Ricci Rivera Rossi Roux Sato Schmidt Scott Shah
  Silva Singh Smith Sousa Stone Suzuki Tanaka Taylor Torres Turner Varga Vogel Walker Weber White Wilson Wood Wright
  Young Zhang`);

const MAIL_HOSTS = ['example.com', 'example.org', 'example.net'] as const;

/** What people want to do; each reads well after "let us" and before an object. */
const ACTIONS = phrases(`
  archive|bulk edit|clone|colour-code|comment on|compare|copy and paste|delete|drag and drop|duplicate|export|filter
  group|hide|import|link|lock|merge|nest|pin|preview|print|rename|reorder|restore|schedule|search|share|sort|split
  star|subscribe to|tag|translate|undo changes to|version|watch|assign owners to|set permissions on|attach files to`);

/** Plural nouns of a software product. */
const OBJECTS = phrases(`
  saved filters|dashboards|weekly reports|custom fields|e-mail templates|invoices|contact lists|project folders
  API keys|audit log entries|calendar events|time entries|task lists|checklists|kanban cards|pull request links
  survey answers|support tickets|attachments|image galleries|product variants|price lists|discount codes|shipping labels
  payment methods|user groups|guest accounts|notification rules|webhooks|form fields|landing pages|knowledge base articles
  chat threads|meeting notes|release notes|roadmap items|sprint boards|backlog items|test runs|build logs
  data sources|pivot tables|line charts|map views|table columns|keyboard shortcuts|colour themes|language packs
  backup files|access tokens|sign-in sessions|approval steps|purchase orders|stock levels|customer profiles|sales pipelines
  mention lists|reminders|recurring tasks|sub-tasks|milestones|time zones|working hours|public holidays`);

/** Where in the product. */
const PLACES = phrases(`
  in the mobile app|on the dashboard|in the sidebar|from the command palette|in the weekly digest|in the admin area
  on the board view|in the calendar view|in the timeline|on tablets|in the browser extension|through the API
  in the desktop app|on the settings page|in the search results|in the activity feed|in shared workspaces
  in the customer portal|in archived projects|in the quick-add window|inside comments|in the import wizard
  on the billing page|in the notification centre|on the home screen|in the table view|in the inbox|in the editor`);

/** For whom or when. */
const CIRCUMSTANCES = phrases(`
  for large workspaces|without admin rights|while offline|across several projects|for guests|for the whole team
  with more than a thousand rows|on slow connections|during onboarding|before they are published|after a plan change
  by role|by date range|per board|with the keyboard only|for screen readers|in right-to-left languages|in dark mode
  at the end of the month|when someone leaves the company|before a release|in one step|with a single click|in bulk
  from a spreadsheet|from another tool|based on a template|with conditions|for external partners|on a schedule
  with two-factor sign-in|for each time zone|without leaving the page|when two people edit at once`);

/** What goes wrong; each reads well after a plural noun. */
const COMPLAINTS = phrases(`
  load very slowly|disappear after a refresh|show the wrong date|are cut off|lose their order|cannot be opened
  are counted twice|open in the wrong language|ignore the chosen time zone|fail without any message
  show up for the wrong people|forget their settings|break the layout|are missing from the export
  cannot be selected|jump back to the top|are not saved|keep the old name|overlap each other|need two clicks`);

const TOOLS = phrases(`
  our help desk|our CRM|a spreadsheet|our wiki|the team chat|our data warehouse|our calendar|the issue tracker
  our mail server|the identity provider|our web shop|our accounting software|the code host|our survey tool`);

const TRADES = phrases(`
  a design studio|a logistics company|a small clinic|an online shop|a university department|a consulting firm
  a city office|a games studio|a bookshop chain|a travel agency|an engineering office|a publishing house
  a non-profit|a bicycle maker|a software agency|a language school|a museum|a food co-operative`);

const BENEFITS = phrases(`
  close the month a day earlier|stop keeping a second list by hand|answer customers on the first call
  bring new colleagues on board faster|see at a glance what is late|trust the numbers again
  get rid of three browser extensions|spend less time in meetings|hand work over without a phone call
  plan the next quarter properly|keep everything in one place|avoid the mistakes we made last month`);

const WORKAROUNDS = phrases(`
  copy everything into a spreadsheet|ask an administrator each time|open every item one by one
  take screenshots and paste them together|keep a second window open|run a script over the API
  write it down on paper|send a message to the whole team|export, edit and import again|reload the page until it works`);

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

function phrases(text: string): readonly string[] {
  return text.trim().split(/\s*[|\n]\s*/);
}
