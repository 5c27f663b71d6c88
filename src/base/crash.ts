/**
 * Named places at which a test can kill the process, to show that nothing is lost or doubled there. The variable is set by
 * tests only; without it this is a comparison of two strings.
 */
export function crashPoint(name: string): void {
  if (process.env.FEEDBACK_TEST_CRASH === name) process.kill(process.pid, 'SIGKILL');
}
