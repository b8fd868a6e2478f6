// Creates the flag of the demo whose release goes wrong, with a release plan and a safeguard, and prints the secret of the signal that stops
// it. What an earlier run of the demo has left of them is replaced.
const { GUIDON_URL, GUIDON_TOKEN, SIGNAL } = process.env;
const name = 'one-page-checkout';
const project = `${GUIDON_URL}/api/admin/projects/default`;
const inDevelopment = `${project}/features/${name}/environments/development`;
const signals = `${project}/environments/development/signals`;

/** call sends a request, which may get one of the expected statuses beside success, and returns the response. */
async function call(method, url, body, ...expected) {
  const response = await fetch(url, {
    method,
    headers: { Authorization: GUIDON_TOKEN, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok && !expected.includes(response.status)) throw new Error(`${method} ${url}: ${response.status} ${text}`);
  return text && JSON.parse(text);
}

/** share is a milestone for a percentage of the users. minutes is after how many the next one starts; without it, a person starts that. */
const share = (percentage, minutes) => ({
  name: `${percentage} %`,
  strategies: [{ strategyName: 'flexibleRollout', parameters: { rollout: `${percentage}`, stickiness: 'userId' } }],
  transitionCondition: minutes && { intervalMinutes: minutes },
});

const description = 'A bad release: it fails when more than 40 users have it';
await call('POST', `${project}/features`, { name, type: 'release', description }, 409);
for (const { id } of await call('GET', `${inDevelopment}/release-plans`)) {
  await call('DELETE', `${inDevelopment}/release-plans/${id}`);
}
await call('DELETE', `${signals}/${SIGNAL}`, undefined, 404);
const { secret } = await call('POST', signals, { name: SIGNAL });
await call('POST', `${inDevelopment}/release-plans`, {
  name: 'Canary',
  existing: 'replace',
  milestones: [share(10), share(25, 1), share(50, 1), share(100)],
  safeguards: [{ signal: { name: SIGNAL }, action: { type: 'off' } }],
});
await call('POST', `${inDevelopment}/on`);
console.log(secret);
