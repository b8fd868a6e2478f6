import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running `guidon serve` with a database of its own. */
export interface Server {
  url: string
  /** The token of the administrator; absent with AUTH_TYPE=none. */
  adminToken?: string
  /** The one-time link that signs in as the administrator; absent if none is printed. */
  link?: string
  /** Everything that it has printed. */
  output: () => string
  stop: () => Promise<void>
}

const startSeconds = 120

/** Starts the program of GUIDON on a free port, in an empty folder. settings are added to its environment. */
export async function startServer(settings: Record<string, string> = {}): Promise<Server> {
  const program = process.env.GUIDON
  if (!program) throw new Error('GUIDON names no program: run make test-browser')
  const folder = mkdtempSync(join(tmpdir(), 'guidon-e2e-'))
  const child = spawn(program, ['serve'], {
    // Webhooks may be sent to receivers that tests start on this machine.
    env: { ...process.env, PORT: '0', DATA_DIR: folder, WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  child.stdout.on('data', (data: Buffer) => (printed += data.toString()))
  child.stderr.on('data', (data: Buffer) => (printed += data.toString()))
  const stop = async () => {
    await end(child)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await ready(child, () => printed)
  } catch (error) {
    await stop()
    throw error
  }
  const url = /^\s+address\s+(\S+)/m.exec(printed)![1]!
  const adminToken = /^\s+admin token\s+(\*:\*\.\S+)/m.exec(printed)?.[1]
  return {
    url,
    adminToken,
    link: adminToken && (await signInLink(url, adminToken)),
    output: () => printed,
    stop,
  }
}

async function signInLink(url: string, adminToken: string): Promise<string> {
  const response = await fetch(`${url}/api/admin/user-admin/1/sign-in-link`, { method: 'POST', headers: { Authorization: adminToken } })
  return ((await response.json()) as { url: string }).url
}

// ready waits for the last line that the server prints at its start.
function ready(child: ChildProcess, printed: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Error(`guidon serve ${reason}:\n${printed()}`))
    const timer = setTimeout(() => fail(`was not ready after ${startSeconds} s`), startSeconds * 1000)
    const check = () => {
      if (!/^\s+data\s+\S+\n/m.test(printed())) return
      clearTimeout(timer)
      resolve()
    }
    child.stdout?.on('data', check)
    child.once('error', (error) => (clearTimeout(timer), fail(`did not start (${error.message})`)))
    child.once('exit', (code) => (clearTimeout(timer), fail(`ended with ${code}`)))
  })
}

// end asks the server to stop, and kills it if it does not.
function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    child.once('exit', () => {
      clearTimeout(timer)
      resolve()
    })
    child.kill('SIGTERM')
  })
}
