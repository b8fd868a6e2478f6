// Programs of clients that our tests do not run. Those for Java, PHP, Ruby and React were run by hand once, with the versions that they
// install; the others follow the documentation of each client. The page says which is which.
import { double, single, tokenVariable, type Client } from './snippets'

const packages = [] as const
const unversioned = (command: string) => ({ packages, install: () => command, reports: true, tested: false }) as const
const ran = (command: string) => ({ ...unversioned(command), ranOnce: true }) as const

export const otherClients: readonly Client[] = [
  {
    id: 'java',
    label: 'Java',
    kind: 'server',
    ...ran('implementation("io.getunleash:unleash-client-java:12.2.0")'),
    file: 'App.java',
    run: 'gradle run',
    code: ({ url, flag, appName }) => `import io.getunleash.DefaultUnleash;
import io.getunleash.Unleash;
import io.getunleash.UnleashContext;
import io.getunleash.util.UnleashConfig;

public class App {
  public static void main(String[] args) {
    UnleashConfig config = UnleashConfig.builder()
        .appName(${double(appName)})
        .unleashAPI(${double(`${url}/api/`)})
        .apiKey(System.getenv("${tokenVariable}"))
        .synchronousFetchOnInitialisation(true)
        .sendMetricsInterval(300) // seconds between reports of usage: shorter shows it sooner, and costs more
        .build();
    Unleash unleash = new DefaultUnleash(config);
    UnleashContext user = UnleashContext.builder().userId("7").build();
    System.out.println(unleash.isEnabled(${double(flag)}, user));
    unleash.shutdown(); // at the end of the program
  }
}
`,
  },
  {
    id: 'dotnet',
    label: '.NET',
    kind: 'server',
    ...unversioned('dotnet add package Unleash.Client'),
    file: 'Program.cs',
    run: 'dotnet run',
    code: ({ url, flag, appName }) => `using Unleash;
using Unleash.ClientFactory;

var settings = new UnleashSettings
{
    AppName = ${double(appName)},
    UnleashApi = new Uri(${double(`${url}/api/`)}),
    SendMetricsInterval = TimeSpan.FromMinutes(5), // between reports of usage: shorter shows it sooner, and costs more
    CustomHttpHeaders = new Dictionary<string, string>
    {
        ["Authorization"] = Environment.GetEnvironmentVariable("${tokenVariable}")!,
    },
};
using var unleash = await new UnleashClientFactory().CreateClientAsync(settings, synchronousInitialization: true);
Console.WriteLine(unleash.IsEnabled(${double(flag)}, new UnleashContext { UserId = "7" }));
`,
  },
  {
    id: 'php',
    label: 'PHP',
    kind: 'server',
    ...ran('composer require unleash/client:^2.9.2 guzzlehttp/guzzle symfony/cache'),
    file: 'app.php',
    run: 'php app.php',
    code: ({ url, flag, appName }) => `<?php
require __DIR__ . '/vendor/autoload.php';

use Unleash\\Client\\Configuration\\UnleashContext;
use Unleash\\Client\\UnleashBuilder;

$unleash = UnleashBuilder::create()
    ->withAppName(${phpText(appName)})
    ->withAppUrl(${phpText(`${url}/api`)})
    ->withInstanceId(gethostname())
    ->withHeader('Authorization', getenv('${tokenVariable}'))
    ->withMetricsInterval(300_000) // ms between reports of usage: shorter shows it sooner, and costs more
    ->build();
var_dump($unleash->isEnabled(${phpText(flag)}, new UnleashContext(currentUserId: '7')));
`,
  },
  {
    id: 'ruby',
    label: 'Ruby',
    kind: 'server',
    ...ran('gem install unleash -v 6.6.0'),
    file: 'app.rb',
    run: 'ruby app.rb',
    code: ({ url, flag, appName }) => `require 'unleash'

unleash = Unleash::Client.new(
  app_name: ${phpText(appName)},
  url: ${phpText(`${url}/api`)},
  custom_http_headers: { 'Authorization' => ENV.fetch('${tokenVariable}') },
  metrics_interval: 300 # seconds between reports of usage: shorter shows it sooner, and costs more
)
puts unleash.is_enabled?(${phpText(flag)}, Unleash::Context.new(user_id: '7'))
unleash.shutdown # at the end of the program
`,
  },
  {
    id: 'react',
    label: 'React',
    kind: 'browser',
    ...ran('npm install @unleash/proxy-client-react@5.1.0 unleash-proxy-client@3.8.2'),
    file: 'app.jsx',
    run: '',
    code: ({ url, flag, appName, token }) => `import { FlagProvider, useFlag } from '@unleash/proxy-client-react';
import { createRoot } from 'react-dom/client';

const config = {
  url: ${single(`${url}/api/frontend`)},
  clientKey: ${single(token)},
  appName: ${single(appName)},
  metricsInterval: 300, // seconds between reports of usage, after the first
  context: { userId: '7' },
};

function Banner() {
  return <p>{useFlag(${single(flag)}) ? 'on' : 'off'}</p>;
}

createRoot(document.getElementById('root')).render(
  <FlagProvider config={config}>
    <Banner />
  </FlagProvider>,
);
`,
  },
  {
    id: 'android',
    label: 'Android',
    kind: 'browser',
    ...unversioned('implementation("io.getunleash:unleash-android:+")'),
    file: 'MainActivity.kt',
    run: '',
    code: ({ url, flag, appName, token }) => `import io.getunleash.android.DefaultUnleash
import io.getunleash.android.UnleashConfig
import io.getunleash.android.data.UnleashContext

val unleash = DefaultUnleash(
    androidContext = applicationContext,
    unleashConfig = UnleashConfig.newBuilder(appName = ${kotlinText(appName)})
        .proxyUrl(${kotlinText(`${url}/api/frontend`)})
        .clientKey(${kotlinText(token)})
        .build(),
)
unleash.setContext(UnleashContext.newBuilder().userId("7").build())
unleash.start()
// Later, when it is ready:
println(unleash.isEnabled(${kotlinText(flag)}))
`,
  },
  {
    id: 'ios',
    label: 'iOS',
    kind: 'browser',
    ...unversioned('https://github.com/Unleash/unleash-ios-sdk (Swift package)'),
    file: 'App.swift',
    run: '',
    code: ({ url, flag, appName, token }) => `import UnleashProxyClientSwift

let unleash = UnleashClient(
    unleashUrl: ${double(`${url}/api/frontend`)},
    clientKey: ${double(token)},
    appName: ${double(appName)},
    context: ["userId": "7"]
)
unleash.start()
// Later, when it is ready:
print(unleash.isEnabled(name: ${double(flag)}))
`,
  },
]

/** A text in single quotes, for PHP and Ruby. */
function phpText(text: string) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

/** A text in double quotes, for Kotlin, where a dollar starts an expression. */
function kotlinText(text: string) {
  return double(text).replaceAll('$', '\\$')
}
