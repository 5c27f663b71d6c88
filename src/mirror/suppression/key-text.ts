import { counted } from '../../text/text.ts';
import type { UnreadableList } from '../decide/types.ts';

export function unreadableText({ erasures, keyFile, fault }: UnreadableList): string {
  const many = counted(erasures, 'erasure');
  return `${many} cannot be recognised: the key of the suppression list, ${keyFile}, ${fault}; nothing is read from upstream until it is back`;
}

export const KEY_HINT =
  'Bring the file back from a copy of the data folder. If it is lost, "feedback-mirror erase --new-key" starts a new list.';
