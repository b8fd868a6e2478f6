// What the clients in the page share. They post the answers to all questions to the server of the page, whenever an answer changes.

const { users, rounds, ...settings } = await (await fetch('/settings')).json();

/** url is the address of the server, without a path, and prefix begins the names of the clients. */
export const { url, token, prefix, flags } = settings;

/** answer is the text for a flag, with the name and the payload of its variant. */
export function answer(enabled, variant) {
  return [enabled ? 'on' : 'off', ...(variant?.enabled ? [variant.name, variant.payload?.value] : [])].join(' ').trim();
}

/** settingsFor are those of unleash-proxy-client. Each client also needs a storage of its own: by default all of a page share one entry. */
export function settingsFor(appName, user) {
  return {
    url: `${url}/api/frontend`,
    clientKey: token,
    appName,
    refreshInterval: 3, // 3.8.2 loses an answer whose body is not complete at the next poll, and asks with its ETag from then on
    metricsInterval: 2,
    context: { userId: user.userId, properties: { plan: user.plan } },
  };
}

/** follow makes a client for each user, and evaluates every flag with it again and again: rounds times, unless that is 0. */
export async function follow(name, connect) {
  try {
    const clients = await Promise.all(users.map((user) => connect(user)));
    let sent;
    let round = 0;
    const timer = setInterval(() => {
      const answers = {};
      users.forEach((user, i) => {
        for (const flag of flags) {
          answers[`${user.name} ${flag.name}`] = clients[i](flag);
        }
      });
      const line = JSON.stringify(answers);
      if (line !== sent) {
        sent = line;
        fetch(`/answers/${name}`, { method: 'POST', body: line });
      }
      round += 1;
      if (round === rounds) {
        clearInterval(timer);
      }
    }, 100);
  } catch (error) {
    report(`${name}: ${error}`);
  }
}

/** report shows a message in the log of the test. */
export function report(message) {
  fetch('/messages', { method: 'POST', body: message });
}

window.addEventListener('error', (event) => report(event.message));
window.addEventListener('unhandledrejection', (event) => report(String(event.reason)));
