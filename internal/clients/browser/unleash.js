// unleash-proxy-client, with GET and with POST.
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { answer, follow, prefix, report, settingsFor } from './follow.js';

for (const usePOSTrequests of [false, true]) {
  const name = prefix + (usePOSTrequests ? 'browser-post' : 'browser');
  follow(name, async (user) => {
    const client = new UnleashClient({
      ...settingsFor(name, user),
      usePOSTrequests,
      storageProvider: new InMemoryStorageProvider(),
    });
    client.on('error', (error) => report(`${name}: ${JSON.stringify(error)}`));
    await client.start();
    return (flag) => answer(client.isEnabled(flag.name), client.getVariant(flag.name));
  });
}
