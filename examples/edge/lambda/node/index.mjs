// A Lambda function that asks Guidon Edge, which runs beside it as an extension, whether a flag is on.

const edge = `http://127.0.0.1:${process.env.GUIDON_EDGE_PORT ?? 2475}`;

// isOn evaluates a flag for a user.
async function isOn(flag, user) {
  const response = await fetch(`${edge}/ofrep/v1/evaluate/flags/${encodeURIComponent(flag)}`, {
    method: 'POST',
    headers: { Authorization: process.env.GUIDON_EDGE_TOKENS, 'Content-Type': 'application/json' },
    body: JSON.stringify({ context: { targetingKey: user } }),
    signal: AbortSignal.timeout(1000),
  });
  if (!response.ok) throw new Error(`Guidon Edge responded with ${response.status}`);
  return (await response.json()).value;
}

// It never fails because of flags: without an answer, the flag is off.
export async function handler({ flag, userId }) {
  try {
    return { flag, on: await isOn(flag, userId) };
  } catch (error) {
    return { flag, on: false, problem: String(error) };
  }
}
