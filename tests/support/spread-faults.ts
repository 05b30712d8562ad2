/**
 * The order of Vitest's files. Tests of faults wait for processes most of the time: one after another they would leave
 * both cores idle, so they run between the files of their project. The schedules take longest and begin first. So do
 * the tests of scripts among those that need nothing but Node, the last project: they start servers, and one core would
 * wait.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The part of the project's files before the last test of faults, so that no worker waits for one alone at the end. */
const SHARE = 0.6;

const isFault = (file: TestSpecification): boolean => file.moduleId.includes('/tests/faults/');
const isSchedule = (file: TestSpecification): boolean => file.project.name === 'schedules';
const isScript = (file: TestSpecification): boolean => file.moduleId.includes('/scripts/');

export class SpreadFaults extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const faults = sorted.filter(isFault);
    const others = sorted.filter((file) => !isFault(file) && !isSchedule(file));
    others.sort((a, b) => Number(isScript(b)) - Number(isScript(a)));
    // Files of one project stand together: Vitest ends a worker's process when the next file has another project.
    const isSameProject = (file: TestSpecification): boolean => file.project === faults[0]?.project;
    const first = Math.max(0, others.findIndex(isSameProject));
    const step = Math.floor((others.filter(isSameProject).length * SHARE) / Math.max(1, faults.length));
    // From the back, because an insertion moves all later positions.
    for (const [index, fault] of [...faults.entries()].toReversed()) others.splice(first + index * step, 0, fault);
    return [...sorted.filter(isSchedule), ...others];
  }
}
