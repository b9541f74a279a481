"""What to say when memory is not enough."""


def table_needs(features: int = 0, where: str = "") -> str:
    """What to say when there is no memory for the weights; features: of a line that is to blame, else 0."""
    if not features:
        return "the weight table needs more than there is; try fewer --bits"
    return (
        f"{where or 'a line'} makes {features:,} features with its interactions, and their weights need more than "
        "there is; try fewer --bits, or fewer interactions"
    )
