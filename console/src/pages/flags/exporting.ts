// Exports as files.
import { api, type Schema } from '../../api'
import { saveFile } from '../../ui/savefile'

/** Asks the server for an export and saves it as a file. about says what it has. The server selects by names, project or tag. */
export async function saveExport(about: string, request: Schema<'ExportRequest'>): Promise<number> {
  const data = await api.post('/api/admin/features-batch/export', { body: { ...request, fullSegments: true } })
  saveFile(exportName(about, request.environment ?? '', new Date()), data)
  return data.features.length
}

/** The name of the file of an export: guidon-default-development-2026-01-31.json. */
export function exportName(about: string, environment: string, now: Date): string {
  const parts = ['guidon', about, environment, now.toISOString().slice(0, 10)]
  return `${parts
    .filter(Boolean)
    .join('-')
    .replace(/[^\w.-]+/g, '-')}.json`
}
