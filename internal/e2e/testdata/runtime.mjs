// Runs a handler as Lambda's runtime for Node.js does: node runtime.mjs <file>
const { handler } = await import(process.argv[2]);
const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation/`;
for (;;) {
  const event = await fetch(api + 'next');
  const answer = await handler(await event.json());
  const id = event.headers.get('Lambda-Runtime-Aws-Request-Id');
  await fetch(`${api}${id}/response`, { method: 'POST', body: JSON.stringify(answer) });
}
