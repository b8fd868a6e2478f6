// unleash-proxy-client, with GET and with POST.
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { answer, follow, prefix, report, token, url } from './follow.js';

for (const usePOSTrequests of [false, true]) {
  const name = prefix + (usePOSTrequests ? 'browser-post' : 'browser');
  follow(name, async (user) => {
    const client = new UnleashClient({
      url: `${url}/api/frontend`,
      clientKey: token,
      appName: name,
      refreshInterval: 3, // 3.8.2 loses an answer whose body is not complete at the next poll, and asks with its ETag from then on
      metricsInterval: 2,
      usePOSTrequests,
      storageProvider: new InMemoryStorageProvider(), // by default all clients of a page share one entry
      context: { userId: user.userId, properties: { plan: user.plan } },
    });
    client.on('error', (error) => report(`${name}: ${JSON.stringify(error)}`));
    await client.start();
    return (flag) => answer(client.isEnabled(flag.name), client.getVariant(flag.name));
  });
}
