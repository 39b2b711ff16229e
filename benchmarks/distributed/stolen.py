"""What share of the processors' time the host of a virtual machine took away: two ranks feel it more than one, as each waits
for the other."""


def processor_times():
    """Time stolen and time in all since the machine started, in ticks of all processors; zeros where the system does not tell."""
    try:
        with open("/proc/stat") as file:
            # user nice system idle iowait irq softirq steal; what follows is part of user and nice
            ticks = [int(t) for t in file.readline().split()[1:9]]
    except OSError:
        return 0, 0
    return (ticks[7] if len(ticks) == 8 else 0), sum(ticks)


class Stolen:
    """Counts from when it is made."""

    def __init__(self):
        self.stolen, self.all = processor_times()

    def __str__(self):
        stolen, every = processor_times()
        return f"the host took {100 * (stolen - self.stolen) / max(every - self.all, 1):.1f}% of processor time"
