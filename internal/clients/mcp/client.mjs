// The official client in JavaScript: it calls a tool of the server at the first argument with the token in the second.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [url, token, tool, args] = process.argv.slice(2)
const client = new Client({ name: 'official-js', version: '1' })
client.onerror = (error) => {
  throw error
}
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }))
const { tools } = await client.listTools()
const { structuredContent, isError } = await client.callTool({ name: tool, arguments: JSON.parse(args) })
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), structuredContent, isError }))
await client.close()
