// The programs that the page Connect shows. docs/how-to/sdks.md has the same clients in the same versions, with programs
// that are tested; snippets.test.ts checks that both agree.

/** What a snippet needs to know. */
export interface SnippetInput {
  /** Address of the server without a path, for example https://flags.example.com. */
  url: string
  flag: string
  appName: string
  /** Secret of the token. */
  token: string
}

/** A client library, with the commands and the program that connect it. */
export interface Client {
  id: string
  label: string
  /** Where it runs, which decides the type of its token. */
  kind: 'server' | 'browser'
  /** Package and version; empty if there is nothing to install. */
  packages: readonly { name: string; version: string }[]
  install: (packages: readonly string[]) => string
  /** Name of the file with the program. */
  file: string
  /** Command that runs the file; empty if a browser does. */
  run: string
  /** Whether it tells the server about itself and about usage. */
  reports: boolean
  /** False if our tests do not run it. */
  tested?: boolean
  /** True for one that our tests do not run, and that was run by hand in the version that it installs. */
  ranOnce?: boolean
  code: (input: SnippetInput) => string
}

/** The environment variable from which programs on servers read the token. */
export const tokenVariable = 'GUIDON_TOKEN'

const npm = (packages: readonly string[]) => `npm install ${packages.join(' ')}`
const pip = (packages: readonly string[]) => `pip install ${packages.join(' ')}`
const goGet = (packages: readonly string[]) => `go get ${packages.join(' ')}`

/** A text as a string literal in single quotes, for JavaScript. */
export function single(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** A text as a string literal in double quotes, for Python and Go. */
export const double = (text: string) => JSON.stringify(text)

/** A text as one word of a shell. */
export const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The clients that our tests run, in the order in which the page shows them. */
export const clients: readonly Client[] = [
  {
    id: 'node',
    label: 'Node.js',
    kind: 'server',
    packages: [{ name: 'unleash-client', version: '6.12.1' }],
    install: npm,
    file: 'app.mjs',
    run: 'node app.mjs',
    reports: true,
    code: ({ url, flag, appName }) => `import { startUnleash } from 'unleash-client';

const unleash = await startUnleash({
  url: ${single(`${url}/api/`)},
  appName: ${single(appName)},
  customHeaders: { Authorization: process.env.${tokenVariable} },
  metricsInterval: 300_000, // ms between reports of usage: shorter shows it sooner, and costs more
});
console.log(unleash.isEnabled(${single(flag)}, { userId: '7' }));
// At the end of the program: it reports usage at once.
await unleash.destroyWithFlush();
`,
  },
  {
    id: 'python',
    label: 'Python',
    kind: 'server',
    packages: [{ name: 'UnleashClient', version: '6.9.1' }],
    install: pip,
    file: 'app.py',
    run: 'python3 app.py',
    reports: true,
    code: ({ url, flag, appName }) => `import os

from UnleashClient import UnleashClient

client = UnleashClient(
    url=${double(`${url}/api`)},
    app_name=${double(appName)},
    custom_headers={"Authorization": os.environ["${tokenVariable}"]},
    metrics_interval=300,  # seconds between reports of usage: shorter shows it sooner, and costs more
)
client.initialize_client()
print(client.is_enabled(${double(flag)}, {"userId": "7"}))
client.destroy()  # at the end of the program
`,
  },
  {
    id: 'go',
    label: 'Go',
    kind: 'server',
    packages: [{ name: 'github.com/Unleash/unleash-go-sdk/v5', version: '5.1.0' }],
    install: goGet,
    file: 'main.go',
    run: 'go run main.go',
    reports: true,
    code: ({ url, flag, appName }) => `package main

import (
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/Unleash/unleash-go-sdk/v5"
	"github.com/Unleash/unleash-go-sdk/v5/context"
)

// listener gets what goes wrong. Without one, the SDK waits for its events to be read.
type listener struct{}

func (listener) OnError(err error)   { fmt.Fprintln(os.Stderr, err) }
func (listener) OnWarning(err error) { fmt.Fprintln(os.Stderr, err) }

func main() {
	client, err := unleash.NewClient(
		unleash.WithListener(listener{}),
		unleash.WithUrl(${double(`${url}/api`)}),
		unleash.WithAppName(${double(appName)}),
		unleash.WithCustomHeaders(http.Header{"Authorization": {os.Getenv("${tokenVariable}")}}),
		unleash.WithMetricsInterval(5*time.Minute), // between reports of usage: shorter shows it sooner, and costs more
	)
	if err != nil {
		panic(err)
	}
	defer client.Close()
	client.WaitForReady()
	fmt.Println(client.IsEnabled(${double(flag)}, unleash.WithContext(context.Context{UserId: "7"})))
}
`,
  },
  {
    id: 'openfeature-node',
    label: 'OpenFeature, Node.js',
    kind: 'server',
    packages: [
      { name: '@openfeature/server-sdk', version: '1.23.0' },
      { name: '@openfeature/ofrep-provider', version: '0.1.3' },
    ],
    install: npm,
    file: 'app.mjs',
    run: 'node app.mjs',
    reports: false,
    code: ({ url, flag }) => `import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

await OpenFeature.setProviderAndWait(new OFREPProvider({
  baseUrl: ${single(url)},
  headers: { Authorization: process.env.${tokenVariable} },
}));
console.log(await OpenFeature.getClient().getStringDetails(${single(flag)}, 'default', { targetingKey: '7' }));
`,
  },
  {
    id: 'openfeature-go',
    label: 'OpenFeature, Go',
    kind: 'server',
    packages: [
      { name: 'github.com/open-feature/go-sdk', version: '1.20.0' },
      { name: 'github.com/open-feature/go-sdk-contrib/providers/ofrep', version: '0.1.6' },
    ],
    install: goGet,
    file: 'main.go',
    run: 'go run main.go',
    reports: false,
    code: ({ url, flag, appName }) => `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	provider := ofrep.NewProvider(${double(url)}, ofrep.WithBearerToken(os.Getenv("${tokenVariable}")))
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		panic(err)
	}
	user := openfeature.NewEvaluationContext("7", nil)
	flag, err := openfeature.NewClient(${double(appName)}).StringValueDetails(context.Background(), ${double(flag)}, "default", user)
	fmt.Println(flag.Value, err)
}
`,
  },
  {
    id: 'browser',
    label: 'JavaScript',
    kind: 'browser',
    packages: [{ name: 'unleash-proxy-client', version: '3.8.2' }],
    install: npm,
    file: 'app.js',
    run: '',
    reports: true,
    code: ({ url, flag, appName, token }) => `import { UnleashClient } from 'unleash-proxy-client';

const unleash = new UnleashClient({
  url: ${single(`${url}/api/frontend`)},
  clientKey: ${single(token)},
  appName: ${single(appName)},
  metricsInterval: 300, // seconds between reports of usage, after the first
  context: { userId: '7' },
});
await unleash.start();
console.log(unleash.isEnabled(${single(flag)}));
`,
  },
  {
    id: 'openfeature-web',
    label: 'OpenFeature',
    kind: 'browser',
    packages: [
      { name: '@openfeature/web-sdk', version: '1.10.0' },
      { name: '@openfeature/ofrep-web-provider', version: '0.4.3' },
    ],
    install: npm,
    file: 'app.js',
    run: '',
    reports: false,
    code: ({ url, flag, token }) => `import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';

await OpenFeature.setContext({ targetingKey: '7' });
await OpenFeature.setProviderAndWait(new OFREPWebProvider({
  baseUrl: ${single(url)},
  headers: [['Authorization', ${single(token)}]],
  pollInterval: 30_000, // without it, changes are seen when the page becomes visible again
}));
console.log(OpenFeature.getClient().getStringDetails(${single(flag)}, 'default'));
`,
  },
]

/** The command that installs a client in its tested version. */
export function installCommand(client: Client): string {
  const versioned = client.packages.map(({ name, version }) =>
    client.install === pip ? `${name}==${version}` : client.install === goGet ? `${name}@v${version}` : `${name}@${version}`,
  )
  return client.install(versioned)
}

/** The command that runs the program with its token. */
export const runCommand = (client: Client, token: string) => `${tokenVariable}=${shellWord(token)} ${client.run}`
