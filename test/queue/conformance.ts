import { describe } from 'node:test';
import { company } from './conformance/company.ts';
import { endings } from './conformance/endings.ts';
import { jobs } from './conformance/jobs.ts';
import { lasting } from './conformance/lasting.ts';
import { pacing } from './conformance/pacing.ts';
import { schedules } from './conformance/schedules.ts';
import { sharing } from './conformance/sharing.ts';
import { playsOn, type Station } from './conformance/station.ts';

/** What every backend of the queue must do, said through the seam alone. */
export function queueConformance(station: Station): void {
  const play = playsOn(station);
  describe('jobs', () => jobs(play));
  describe('pacing', () => pacing(play));
  describe('schedules', () => schedules(play));
  describe('endings', () => endings(play));
  describe('what lasts', () => lasting(play));
  describe('company', () => company(play, station));
  const { server } = station;
  if (server) describe('a shared server', () => sharing(play, server));
}
