import { storeConformance } from './conformance.ts';
import { openSqliteMirror } from './sqlite-mirror.ts';

storeConformance('SQLite', openSqliteMirror);
