import { parentPort, workerData } from 'node:worker_threads';
import { type TidyRequest, tidyHere } from './housekeeping.ts';

parentPort?.postMessage(tidyHere(workerData as TidyRequest));
