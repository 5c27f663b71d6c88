/** The JSON of a request. Broken UTF-8 is refused: a lenient decoder would change the text without a word. */
export function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw Object.assign(new Error('The body is not JSON.', { cause: error }), { statusCode: 400 });
  }
}
