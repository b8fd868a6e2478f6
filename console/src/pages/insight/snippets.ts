// The programs that the page Connect shows, of the folder programs. docs/how-to/sdks.md has the same clients in the same versions, with
// programs that are tested; snippets.test.ts checks that both agree.

/** A client library, with the commands that install it and run its program. */
export interface Client {
  id: string
  label: string
  /** Where it runs, which decides the type of its token. */
  kind: 'server' | 'browser'
  /** The command that installs it, in its version. */
  install: string
  /** Name of the file with the program. */
  file: string
  /** Command that runs the file; empty if a browser does. */
  run: string
  /** Whether it tells the server about itself and about usage. */
  reports: boolean
  /** How its program was tried: our tests run it, it was run by hand once, or it only follows the documentation of the client. */
  tried: 'tests' | 'once' | 'not'
}

/** What a program needs to know. */
interface Input {
  /** Address of the server without a path, for example https://flags.example.com. */
  url: string
  flag: string
  app: string
  /** Secret of the token. */
  token: string
}

/** The environment variable from which programs on servers read the token. */
export const tokenVariable = 'GUIDON_TOKEN'

const server = { kind: 'server', reports: true, tried: 'tests' } as const
const browser = { ...server, kind: 'browser', run: '' } as const
const ofrep = 'github.com/open-feature/go-sdk-contrib/providers/ofrep'
const node = { file: 'app.mjs', run: 'node app.mjs' }
const go = { file: 'main.go', run: 'go run main.go' }

/** All clients, in the order in which the page shows them. */
export const clients: readonly Client[] = [
  { ...server, ...node, id: 'node', label: 'Node.js', install: 'npm install unleash-client@6.12.1' },
  { ...server, id: 'python', label: 'Python', install: 'pip install UnleashClient==6.9.1', file: 'app.py', run: 'python3 app.py' },
  { ...server, ...go, id: 'go', label: 'Go', install: 'go get github.com/Unleash/unleash-go-sdk/v6@v6.4.0' },
  {
    ...{ ...server, ...node, id: 'openfeature-node', label: 'OpenFeature, Node.js', reports: false },
    install: 'npm install @openfeature/server-sdk@1.23.0 @openfeature/ofrep-provider@0.1.3',
  },
  {
    ...{ ...server, ...go, id: 'openfeature-go', label: 'OpenFeature, Go', reports: false },
    install: `go get github.com/open-feature/go-sdk@v1.20.0 ${ofrep}@v0.1.7`,
  },
  { ...browser, id: 'browser', label: 'JavaScript', install: 'npm install unleash-proxy-client@3.8.2', file: 'app.js' },
  {
    ...{ ...browser, id: 'openfeature-web', label: 'OpenFeature', reports: false, file: 'app.js' },
    install: 'npm install @openfeature/web-sdk@1.10.0 @openfeature/ofrep-web-provider@0.4.3',
  },
  {
    ...{ ...server, id: 'java', label: 'Java', tried: 'once', file: 'App.java', run: 'gradle run' },
    install: 'implementation("io.getunleash:unleash-client-java:12.2.3")',
  },
  { ...server, id: 'dotnet', label: '.NET', tried: 'not', install: 'dotnet add package Unleash.Client', file: 'Program.cs', run: 'dotnet run' },
  {
    ...{ ...server, id: 'php', label: 'PHP', tried: 'once', file: 'app.php', run: 'php app.php' },
    install: 'composer require unleash/client:^2.9.2 guzzlehttp/guzzle symfony/cache',
  },
  { ...server, id: 'ruby', label: 'Ruby', tried: 'once', install: 'gem install unleash -v 6.6.0', file: 'app.rb', run: 'ruby app.rb' },
  {
    ...{ ...browser, id: 'react', label: 'React', tried: 'once', file: 'app.jsx' },
    install: 'npm install @unleash/proxy-client-react@5.1.0 unleash-proxy-client@3.8.2',
  },
  { ...browser, id: 'android', label: 'Android', tried: 'not', install: 'implementation("io.getunleash:unleash-android:+")', file: 'MainActivity.kt' },
  { ...browser, id: 'ios', label: 'iOS', tried: 'not', install: 'https://github.com/Unleash/unleash-ios-sdk (Swift package)', file: 'App.swift' },
]

const programs = import.meta.glob<string>('./programs/*.txt', { query: '?raw', import: 'default', eager: true })

/** The program of a client, with its texts as the language writes them between its quotes. */
export const programOf = ({ id, file }: Client, input: Input) =>
  programs[`./programs/${id}.txt`]!.replace(/\{\{(\w+)\}\}/g, (_, name: keyof Input) => quotable(input[name], file.split('.')[1]!))

function quotable(text: string, language: string) {
  if (['php', 'rb'].includes(language)) return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
  const json = JSON.stringify(text).slice(1, -1)
  if (['mjs', 'js', 'jsx'].includes(language)) return json.replaceAll('\\"', '"').replaceAll("'", "\\'")
  // In Kotlin a dollar starts an expression.
  return language === 'kt' ? json.replaceAll('$', '\\$') : json
}

/** A text as one word of a shell. */
export const shellWord = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** The command that runs the program with its token. */
export const runCommand = (client: Client, token: string) => `${tokenVariable}=${shellWord(token)} ${client.run}`
