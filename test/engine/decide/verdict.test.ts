/** A verdict on many findings keeps the bounds of the envelope. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { DetectedPattern, PatternReport, PatternSource } from '../../../engine/internal.ts'
import { failedAnalysis, fakeAnalysis, type FakeFinding } from '../../fakes/comparisons.ts'
import { verdictOn } from '../../fakes/decisions.ts'

const BREAKING: FakeFinding = { rule: 'api-removed', level: 'breaking', places: ['GET /pets'] }
const DANGEROUS: FakeFinding = { rule: 'default-changed', level: 'dangerous', places: ['GET /owners'] }
const DEPRECATED: FakeFinding = { rule: 'endpoint-deprecated', level: 'info', places: ['GET /pets'] }

suite('many findings', () => {
  const many = Array.from({ length: 400 }, (_, index): FakeFinding => ({
    ...BREAKING,
    rule: `api-removed-${index}`,
    location: `/paths/${index}`,
    message: 'm'.repeat(900),
  }))
  const verdict = verdictOn(many)

  test('are listed up to the bounds, with how many were left out', () => {
    assert.equal(verdict.blocking_reasons.length, 50)
    assert.deepEqual(verdict.blocking_reasons.at(-1), {
      code: 'REASONS_TRUNCATED',
      message: '351 further reasons not listed here.',
    })
    assert.equal(verdict.evidence.length, 100)
    assert.match(verdict.evidence.at(-1)?.finding ?? '', /^302 further rows not listed here/)
    assert.equal(verdict.remediation_transaction?.required_changes.length, 50)
    assert.equal(verdict.remediation_transaction.recheck_scope.omitted_changes, 350)
    assert.equal(verdict.breaking_changes, 400)
  })

  test('have their words cut where one sees it', () => {
    assert.equal(verdict.blocking_reasons[0]?.message.length, 300)
    assert.ok(verdict.blocking_reasons[0].message.endsWith('…'))
    assert.ok(verdict.summary.length <= 500)
  })

  test('are not cut when they just fit', () => {
    const fitting: FakeFinding = { ...BREAKING, message: 'm'.repeat(300 - ' at x'.length), places: ['x'] }
    const group = verdictOn([fitting])
    assert.equal(group.blocking_reasons[0]?.message, `${'m'.repeat(295)} at x`)
    const exact = verdictOn(many.slice(0, 50))
    assert.ok(exact.blocking_reasons.every(({ code }) => code !== 'REASONS_TRUNCATED'))
  })

  test('of failed artifacts are bounded alike', () => {
    const analyses = Array.from({ length: 50 }, (_, index) => failedAnalysis(`a${index}`))
    const { degraded_reasons: reasons } = verdictOn([], { analyses })
    assert.deepEqual([reasons.length, reasons.at(-1)?.code], [20, 'REASONS_TRUNCATED'])
  })
})

suite('hostile words', () => {
  for (const message of ['\ud800', '', '\u0000', '\u202e', `${'x'.repeat(298)}😀😀`, `${'x'.repeat(299)}😀`]) {
    test(`of a contract (${JSON.stringify(message.slice(-6))}) cannot break the envelope`, () => {
      // Readers refuse half pairs, so places never hold one; messages are cut here and could.
      const place = `/${message.toWellFormed()}`
      const finding: FakeFinding = { ...BREAKING, message, fix: message, location: place, places: [`GET ${place}`] }
      const { blocking_reasons: reasons } = verdictOn([finding])
      assert.ok(reasons.every((row) => row.message.isWellFormed() && row.message.length <= 300))
    })
  }
})

suite('the way out of a block', () => {
  test('names each change with its fix, and what to check again', () => {
    const verdict = verdictOn([
      {
        rule: 'request-property-became-required',
        level: 'breaking',
        places: ['POST /pets'],
        location: '/paths/~1pets/post',
        fix: 'Keep it optional.',
      },
      { rule: 'mcp-tool-removed', level: 'breaking', places: ['search'], location: '/tools/0' },
    ])
    const remediation = verdict.remediation_transaction
    assert.ok(remediation)
    const rows = remediation.required_changes.map((row) => [
      row.change_type,
      row.target,
      row.target_ref,
      row.recommended_transform,
      row.instruction,
    ])
    assert.deepEqual(rows, [
      [
        'REQUEST_PROPERTY_BECAME_REQUIRED',
        'POST /pets',
        'api#/paths/~1pets/post',
        'make_optional',
        'Keep it optional.',
      ],
      ['MCP_TOOL_REMOVED', 'search', 'api#/tools/0', 'restore', 'Undo mcp-tool-removed.'],
    ])
    const scope = { artifacts: ['api'], targets: ['POST /pets', 'search'], omitted_changes: 0, omitted_targets: 0 }
    assert.deepEqual(remediation.recheck_scope, scope)
    assert.equal(remediation.resubmission.reference_fingerprint, verdict.fingerprint)
  })

  for (const [pattern, action] of [
    ['TOOL_REMOVED', 'migrate'],
    ['ENDPOINT_REMOVED', 'migrate'],
    ['AUTH_SCOPE_REDUCTION', 're_preflight'],
    ['FIELD_REMOVED', 'revert'],
  ] as const) {
    test(`is ${action} on ${pattern}`, () => {
      const verdict = verdictOn([], { analyses: [fakeAnalysis('api', [BREAKING], { patterns: [pattern] })] })
      assert.equal(verdict.next_agent_step?.action, action)
      assert.equal(verdict.next_agent_step.reason, 'API_REMOVED')
    })
  }

  test('exists only for a block', () => {
    const remediations = [[], [DEPRECATED], [DANGEROUS]].map((findings) => verdictOn(findings).remediation_transaction)
    assert.deepEqual(remediations, [null, null, null])
  })
})

suite('the report for people', () => {
  test('counts, shows what breaks first and says how to fix it', () => {
    const { human_report: report, summary } = verdictOn([
      DEPRECATED,
      DANGEROUS,
      BREAKING,
      { ...BREAKING, rule: 'api-gone' },
    ])
    assert.match(summary, /^BLOCK: 2 breaking/)
    assert.deepEqual(report, {
      // What was found, without the decision: the report of an analysis must not read like permission.
      summary: summary.slice('BLOCK: '.length),
      breaking_highlights: ['api-removed happened at GET /pets', 'api-gone happened at GET /pets'],
      suggestions: ['Undo api-removed.', 'Undo api-gone.', 'Undo default-changed.'],
      next_steps: [
        'Fix each change as remediation_transaction.required_changes says, or revert it.',
        'Request a new authorize preflight after the input has changed; the same input is blocked again.',
      ],
    })
  })

  for (const [findings, summary] of [
    [[], 'ALLOW: no change found'],
    [[DEPRECATED], 'WARN: 1 other finding: endpoint-deprecated happened at GET /pets'],
    [[DANGEROUS], 'REQUIRE_APPROVAL: 1 dangerous: default-changed happened at GET /owners'],
    [[BREAKING], 'BLOCK: 1 breaking: api-removed happened at GET /pets'],
  ] as const) {
    test(`sums up: ${summary}`, () => assert.equal(verdictOn(findings).summary, summary))
  }

  test('has at most ten highlights', () => {
    const many = Array.from({ length: 12 }, (_, index): FakeFinding => ({ ...BREAKING, rule: `api-removed-${index}` }))
    assert.equal(verdictOn(many).human_report.breaking_highlights.length, 10)
  })
})

suite('the quality of the evidence', () => {
  const oneSided = fakeAnalysis('new', [], { spec_versions: { base: null, head: '3.0.3' } })
  const gone = fakeAnalysis('gone', [], { spec_versions: { base: '3.0.3', head: null } })
  for (const [what, analyses, quality] of [
    ['both sides of everything', [fakeAnalysis('api', [])], 'HIGH'],
    ['one created contract among others', [fakeAnalysis('api', []), oneSided], 'MEDIUM'],
    ['one deleted contract among others', [fakeAnalysis('api', []), gone], 'MEDIUM'],
    ['something unread', [oneSided, failedAnalysis('api')], 'LOW'],
  ] as const) {
    test(`on ${what} is ${quality}`, () => assert.equal(verdictOn([], { analyses }).evidence_quality, quality))
  }
})

suite('what is to be done', () => {
  for (const [decision, findings, core, step, required] of [
    [
      'ALLOW',
      [],
      { type: 'none', reason_code: 'NO_BLOCKING_CHANGE', recheck_required: false, choices: [] },
      undefined,
      [],
    ],
    [
      'WARN',
      [DEPRECATED],
      {
        type: 'proceed_with_note',
        reason_code: 'ENDPOINT_DEPRECATED',
        recheck_required: false,
        choices: ['continue_monitor', 'verify_receipt', 're_preflight_deploy'],
      },
      undefined,
      [],
    ],
    [
      'REQUIRE_APPROVAL',
      [DANGEROUS],
      {
        type: 'request_approval',
        reason_code: 'DEFAULT_CHANGED',
        recheck_required: true,
        choices: ['obtain_human_approval', 'revert', 're_preflight'],
      },
      'await_approval',
      ['REQUEST_APPROVAL', 'REEVALUATE'],
    ],
    [
      'BLOCK',
      [BREAKING],
      {
        type: 'remediate_or_revert',
        reason_code: 'API_REMOVED',
        recheck_required: true,
        choices: ['revert', 'migrate', 're_preflight', 'escalate'],
      },
      'revert',
      ['REMEDIATE', 'REEVALUATE'],
    ],
  ] as const) {
    test(`after ${decision}`, () => {
      const verdict = verdictOn(findings)
      assert.deepEqual(verdict.required_action_core, core)
      assert.equal(verdict.next_agent_step?.action, step)
      assert.deepEqual(
        verdict.next_actions.filter((action) => action.required).map((action) => action.type),
        required,
      )
      assert.equal(verdict.required_action === null, decision === 'ALLOW')
    })
  }
})

function patternRow(name: string): DetectedPattern {
  return { name, severity: 'HIGH', description: 'd', consequence: 'c', affected_path: '', affected_field: '' }
}

function measured(name: string, indices: readonly number[]): PatternSource {
  return { name, source: 'contract_diff', evidence_kind: 'measured', detected_pattern_indices: indices }
}

function patternReport(name: string): PatternReport {
  return { patterns: [name], pattern_sources: [measured(name, [0])], detected_patterns: [patternRow(name)] }
}

suite('patterns of several artifacts', () => {
  test('are one report whose indices still point at their rows', () => {
    const names = ['ENDPOINT_REMOVED', 'AUTH_REQUIRED_ADDED']
    const analyses = names.map((name, index) => fakeAnalysis(`artifact-${index}`, [], patternReport(name)))
    const { patterns, pattern_sources: sources, detected_patterns: rows } = verdictOn([], { analyses })
    assert.deepEqual(patterns, ['AUTH_REQUIRED_ADDED', 'ENDPOINT_REMOVED'])
    const pointedAt = sources.map(({ detected_pattern_indices: indices = [] }) =>
      indices.map((index) => rows[index]?.name),
    )
    assert.deepEqual(
      pointedAt,
      names.map((name) => [name]),
    )
  })

  test('past a hundred rows are counted, and no index points past the end', () => {
    const rows = Array.from({ length: 130 }, () => patternRow('FIELD_REMOVED'))
    const report = {
      patterns: ['FIELD_REMOVED'],
      pattern_sources: [measured('FIELD_REMOVED', [...rows.keys()])],
      detected_patterns: rows,
    }
    const verdict = verdictOn([], { analyses: [fakeAnalysis('a', [], report)] })
    assert.equal(verdict.detected_patterns.length, 100)
    assert.equal(verdict.pattern_sources[0]?.detected_pattern_indices?.length, 100)
    assert.ok(verdict.evidence.some(({ finding }) => finding.startsWith('30 further pattern rows')))
  })
})
