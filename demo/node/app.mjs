// The sample application in JavaScript: it evaluates all flags for 100 users, and answers every request with the result.
//
// Settings (environment): ADDRESS to listen on, such as 127.0.0.1:4301, and GUIDON_URL and TOKEN of the flags.
import { createServer } from 'node:http';
import { initialize } from 'unleash-client';

const users = Array.from({ length: 100 }, (_, i) => `user-${i + 1}`);
const maxFlags = 20;

const unleash = initialize({
  url: `${process.env.GUIDON_URL}/api/`,
  appName: 'demo-node',
  customHeaders: { Authorization: process.env.TOKEN },
  refreshInterval: 1000,
  metricsInterval: 10_000,
});
for (const event of ['error', 'warn']) {
  unleash.on(event, (message) => console.error('node application:', message));
}

// The answer for a user is '' for off, 'on', or the name of a variant.
function answer(name, userId) {
  if (!unleash.isEnabled(name, { userId })) return '';
  const variant = unleash.getVariant(name, { userId });
  return variant.enabled ? variant.name : 'on';
}

function evaluate() {
  const flags = (unleash.getFeatureToggleDefinitions() ?? [])
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, maxFlags)
    .map(({ name, type, description }) => ({
      name,
      type,
      description,
      answers: users.map((userId) => answer(name, userId)),
    }));
  return { language: 'JavaScript', sdk: 'unleash-client', flags };
}

const server = createServer((_, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(evaluate()));
});
const [host, port] = process.env.ADDRESS.split(':');
server.listen(Number(port), host || '0.0.0.0');

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    unleash.destroy();
    server.closeAllConnections();
    server.close(() => process.exit(0));
  });
}
