/** What runs at the moment, for the status line: one line of progress and a way to stop it. */

export interface RunningTask {
  readonly label: string;
  readonly done: number;
  readonly total: number;
  readonly stop: () => void;
}

class Running {
  tasks = $state.raw<Readonly<Record<string, RunningTask>>>({});

  set(name: string, task: RunningTask | undefined): void {
    const { [name]: _, ...others } = this.tasks;
    this.tasks = task === undefined ? others : { ...others, [name]: task };
  }

  get list(): readonly (RunningTask & { readonly name: string })[] {
    return Object.entries(this.tasks).map(([name, task]) => ({ name, ...task }));
  }
}

export const running = new Running();
