/** Where editors and agents keep their MCP servers, by their own documents. One list. */
import { join } from 'node:path'
import { variable, type Environment } from '../settings/environment.ts'

/** Members that lead to an object of servers by name; `*` stands for every member. */
type ServersPath = readonly string[]

export interface EditorFile {
  /** Stable name, for --editor. */
  readonly editor: EditorName
  readonly title: string
  readonly file: string
  readonly format: 'json' | 'toml'
  readonly servers: readonly ServersPath[]
}

export const EDITORS = [
  'claude-code',
  'claude-desktop',
  'cursor',
  'vscode',
  'windsurf',
  'zed',
  'gemini',
  'codex',
] as const
export type EditorName = (typeof EDITORS)[number]

interface EditorSite {
  /** Of the user. */
  readonly home: string
  /** Of the project. */
  readonly folder: string
  readonly platform: NodeJS.Platform
  readonly environment: Environment
}

const MCP_SERVERS: readonly ServersPath[] = [['mcpServers']]

function jsonPlace(editor: EditorName, title: string, file: string, servers = MCP_SERVERS): EditorFile {
  return { editor, title, file, format: 'json', servers }
}

/** Every place once, whether or not there is a file. In the home directory, the files of the project are those of the user. */
export function editorFiles(site: EditorSite): readonly EditorFile[] {
  const all = allFiles(site)
  return all.filter(({ file }, index) => all.findIndex((other) => other.file === file) === index)
}

function allFiles(site: EditorSite): readonly EditorFile[] {
  const { home, folder, environment } = site
  const settings = (...path: readonly string[]): string => join(applicationData(site), ...path)
  // Claude Code keeps ~/.claude.json in this folder when it is named.
  const claude = variable(environment, 'CLAUDE_CONFIG_DIR') ?? home
  const codex = variable(environment, 'CODEX_HOME') ?? join(home, '.codex')
  return [
    jsonPlace('claude-code', 'Claude Code', join(claude, '.claude.json'), [
      ['mcpServers'],
      ['projects', '*', 'mcpServers'],
    ]),
    jsonPlace('claude-code', 'Claude Code, this project', join(folder, '.mcp.json')),
    jsonPlace('claude-desktop', 'Claude Desktop', settings('Claude', 'claude_desktop_config.json')),
    jsonPlace('cursor', 'Cursor', join(home, '.cursor', 'mcp.json')),
    jsonPlace('cursor', 'Cursor, this project', join(folder, '.cursor', 'mcp.json')),
    jsonPlace('vscode', 'VS Code', settings('Code', 'User', 'mcp.json'), [['servers']]),
    jsonPlace('vscode', 'VS Code, settings', settings('Code', 'User', 'settings.json'), [['mcp', 'servers']]),
    jsonPlace('vscode', 'VS Code, this project', join(folder, '.vscode', 'mcp.json'), [['servers']]),
    jsonPlace('windsurf', 'Windsurf', join(home, '.codeium', 'windsurf', 'mcp_config.json')),
    jsonPlace('zed', 'Zed', zedSettings(site), [['context_servers']]),
    jsonPlace('zed', 'Zed, this project', join(folder, '.zed', 'settings.json'), [['context_servers']]),
    jsonPlace('gemini', 'Gemini CLI', join(home, '.gemini', 'settings.json')),
    jsonPlace('gemini', 'Gemini CLI, this project', join(folder, '.gemini', 'settings.json')),
    {
      editor: 'codex',
      title: 'Codex CLI',
      file: join(codex, 'config.toml'),
      format: 'toml',
      servers: [['mcp_servers']],
    },
    {
      editor: 'codex',
      title: 'Codex CLI, this project',
      file: join(folder, '.codex', 'config.toml'),
      format: 'toml',
      servers: [['mcp_servers']],
    },
  ]
}

/** Where programs of the desktop keep their settings. */
function applicationData({ home, platform, environment }: EditorSite): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support')
  if (platform === 'win32') return variable(environment, 'APPDATA') ?? join(home, 'AppData', 'Roaming')
  return variable(environment, 'XDG_CONFIG_HOME') ?? join(home, '.config')
}

function zedSettings(site: EditorSite): string {
  const { home, platform } = site
  // Zed keeps to ~/.config on macOS too.
  const folder =
    platform === 'darwin'
      ? join(home, '.config', 'zed')
      : join(applicationData(site), platform === 'win32' ? 'Zed' : 'zed')
  return join(folder, 'settings.json')
}
