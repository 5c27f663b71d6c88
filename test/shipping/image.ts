import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CHECKOUT } from '../support/cli.ts';
import { type Owner, ordinaryUser } from '../support/servers.ts';
import { allowedInContext, copyOf, execForm, type Instruction } from './dockerfile.ts';

/** What a Dockerfile makes, in folders of this machine instead of an image. */
export interface Image {
  /** The folder that stands for `/`. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  volumes: string[];
  command: string[];
  healthCheck: string[];
  stopSignal: NodeJS.Signals;
}

/** Carries out the steps of a Dockerfile. The base image gives Node and an empty system: both are here already. */
export function build(steps: Instruction[], folder: string): Image {
  const stages = new Map<string, Image>();
  let image = emptyImage(join(folder, 'stage-0'));
  for (const { name, text } of steps) {
    if (name === 'FROM') {
      image = emptyImage(join(folder, `stage-${stages.size}`));
      stages.set(/ AS (\S+)$/.exec(text)?.[1] ?? 'last', image);
    } else carryOut(name, text, image, stages);
  }
  return image;
}

function emptyImage(root: string): Image {
  mkdirSync(root, { recursive: true });
  return {
    root,
    workdir: '/',
    env: {},
    user: 'root',
    volumes: [],
    command: [],
    healthCheck: [],
    stopSignal: 'SIGTERM',
  };
}

function carryOut(name: string, text: string, image: Image, stages: Map<string, Image>): void {
  const assignment = /^(\w+)=(.*)$/.exec(text);
  switch (name) {
    case 'WORKDIR':
      image.workdir = text;
      mkdirSync(join(image.root, text), { recursive: true });
      return;
    case 'ENV':
      image.env[assignment?.[1] ?? ''] = assignment?.[2] ?? '';
      return;
    case 'COPY':
      copy(text, image, stages);
      return;
    case 'RUN':
      run(text, image);
      return;
    case 'USER':
      image.user = text;
      return;
    case 'VOLUME':
      image.volumes.push(text);
      return;
    case 'CMD':
      image.command = execForm(text);
      return;
    case 'HEALTHCHECK':
      image.healthCheck = execForm(text);
      return;
    case 'STOPSIGNAL':
      image.stopSignal = text as NodeJS.Signals;
      return;
    case 'ARG':
    case 'EXPOSE':
      return;
    default:
      throw new Error(`the replay does not know ${name}`);
  }
}

function copy(text: string, image: Image, stages: Map<string, Image>): void {
  const { from, sources, target } = copyOf(text);
  const stage = from === null ? null : stages.get(from);
  if (stage === undefined) throw new Error(`there is no stage ${from}`);
  const allowed = allowedInContext(join(CHECKOUT, '.dockerignore'));
  for (const source of sources) {
    const isAllowed = allowed.some((name) => source === name || source.startsWith(`${name}/`));
    if (stage === null && !isAllowed) throw new Error(`.dockerignore leaves ${source} out`);
    const origin = stage === null ? join(CHECKOUT, source) : join(stage.root, source);
    const place = join(image.root, target.startsWith('/') ? '' : image.workdir, target);
    const destination = target.endsWith('/') ? join(place, basename(source)) : place;
    mkdirSync(dirname(destination), { recursive: true });
    cpSync(origin, destination, { recursive: true, verbatimSymlinks: true });
  }
}

/**
 * As the shell of the image would run it, but as an ordinary user where we are root: what works so works in an image. `/data` is a
 * folder of the image. What a whole `npm ci` would install stands in the checkout already.
 */
function run(text: string, image: Image): void {
  const cwd = join(image.root, image.workdir);
  if (/^npm ci(?!.*--omit)/.test(text)) {
    symlinkSync(join(CHECKOUT, 'node_modules'), join(cwd, 'node_modules'));
    return;
  }
  const isBuild = text.endsWith('npm run build');
  const owner = isBuild ? null : ordinaryUser();
  if (owner) giveTo(owner, image.root);
  const { uid, gid } = owner ?? { uid: process.getuid?.(), gid: process.getgid?.() };
  const local = text
    .replaceAll(/(?<=\s)\/(?=\w)/g, `${image.root}/`)
    .replaceAll('node:node', `${uid}:${gid}`);
  const own = owner ? { HOME: image.root, npm_config_cache: join(image.root, '.npm') } : {};
  execFileSync('/bin/sh', ['-c', local], {
    cwd,
    env: { ...process.env, ...image.env, ...own, npm_config_prefer_offline: 'true' },
    stdio: 'pipe',
    ...owner,
  });
}

function giveTo({ uid, gid }: Owner, folder: string): void {
  execFileSync('chown', ['-R', `${uid}:${gid}`, folder]);
}

/** The environment a container starts with, its folders being those of the replay. */
export function environment(image: Image): Record<string, string> {
  const local = Object.entries(image.env).map(([name, value]) => [
    name,
    value.startsWith('/') ? join(image.root, value) : value,
  ]);
  return { PATH: process.env.PATH ?? '', ...Object.fromEntries(local) };
}
